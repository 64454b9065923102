// What bundlers and workerd make of a .wasm import: a module that is already compiled.

declare module '*.wasm' {
  const compiled: WebAssembly.Module;
  export default compiled;
}
