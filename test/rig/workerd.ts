// A worker in real workerd, started by Miniflare, gone when stopped: a TypeScript entry bundled as for an upload, or
// the built Worker itself.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare, type MiniflareOptions } from 'miniflare';
import { inject } from 'vitest';

export interface Workerd {
  readonly url: string;
  /** Over the network, as a client would; `path` begins with `/`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** As its Cron Trigger would. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerdOptions {
  /** What the worker finds in its `env`. */
  readonly bindings?: Readonly<Record<string, string>>;
}

type Modules = Extract<MiniflareOptions['modules'], readonly unknown[]>;

export async function startWorkerd(entry: URL, options: WorkerdOptions = {}): Promise<Workerd> {
  return start(await bundle(fileURLToPath(entry)), options);
}

/** The Worker as it would be uploaded: what the build left in dist/worker/. */
export async function startBuiltWorker(options: WorkerdOptions = {}): Promise<Workerd> {
  return start(asModules(builtWorker()), options);
}

/** The files of the built Worker. */
export function builtWorker(): readonly File[] {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the Worker could not be built:\n${failure}`);
  const directory = join(ROOT, 'dist/worker');
  return readdirSync(directory).map((path) => ({ path, contents: readFileSync(join(directory, path)) }));
}

async function start(modules: Modules, { bindings = {} }: WorkerdOptions): Promise<Workerd> {
  const miniflare = new Miniflare({
    modules,
    bindings: { ...bindings },
    // Without nodejs_compat: whatever needs Node fails here, not after a deployment.
    compatibilityDate: '2026-04-01',
    // Otherwise Miniflare asks cloudflare.com for a sample of `request.cf`.
    cf: false,
  });
  const url = await miniflare.ready;
  return {
    url: url.origin,
    fetch: (path, init) => fetch(new URL(path, url), init),
    tick: async () => {
      const worker = await miniflare.getWorker();
      await worker.scheduled({ cron: '* * * * *' });
    },
    stop: () => miniflare.dispose(),
  };
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

async function bundle(entry: string): Promise<Modules> {
  const outdir = join(ROOT, 'dist/workerd');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: { worker: entry },
    outdir,
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    // Copied and still imported, so that workerd gets it as a module of its own.
    loader: { '.wasm': 'copy' },
    // As in build.mjs: the Node build of yaml is CommonJS.
    alias: { yaml: join(ROOT, 'node_modules/yaml/browser/dist/index.js') },
    define: { SLUICE_VERSION: '"0.0.0-test"' },
    logLevel: 'silent',
  });
  return asModules(outputFiles.map(({ path, contents }) => ({ path: relative(outdir, path), contents })));
}

interface File {
  readonly path: string;
  readonly contents: Uint8Array;
}

/** The script first: Miniflare takes the first module for the entry. */
function asModules(files: readonly File[]): Modules {
  return [...files]
    .sort((a, b) => Number(isWasm(a)) - Number(isWasm(b)))
    .map((file) => ({ ...file, type: isWasm(file) ? 'CompiledWasm' : 'ESModule' }) as const);
}

function isWasm({ path }: { readonly path: string }): boolean {
  return path.endsWith('.wasm');
}
