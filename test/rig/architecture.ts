// The rules between files: who may import whom, who may touch the outside, who may print and exit.

import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { type Import, type ScannedFile, scan } from './source-scan.ts';

export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly rule:
    | 'folder'
    | 'type-only'
    | 'package'
    | 'node'
    | 'pure'
    | 'computed'
    | 'cycle'
    | 'barrel'
    | 'print'
    | 'exit';
  /** `file:line` and what is wrong there. */
  readonly message: string;
}

interface FolderRule {
  readonly imports: readonly string[];
  /** Folders of which only `import type` is allowed. */
  readonly types: readonly string[];
}

/** DESIGN "Folders". */
export const FOLDERS: Readonly<Record<string, FolderRule>> = {
  schema: { imports: [], types: [] },
  api: { imports: ['schema'], types: [] },
  host: { imports: ['schema'], types: ['api'] },
  watcher: { imports: ['schema', 'host'], types: [] },
  runner: { imports: ['schema', 'host'], types: [] },
  cli: { imports: ['schema', 'api', 'host', 'watcher', 'runner'], types: [] },
  web: { imports: ['schema'], types: ['api'] },
};

/** Packages that run anywhere and touch nothing outside; schema/ may use these and no others. */
const PURE_PACKAGES = ['@dagrejs/dagre', 'croner', 'drizzle-orm', 'picomatch', 'yaml', 'zod'];
/** The files of api/ that never run inside workerd; nothing else in api/ may import them. */
const NODE_ONLY_API = [
  'api/node.ts',
  'api/open-database.ts',
  'api/store/backup.ts',
  'api/store/quick-check.ts',
  'api/store/embedded.ts',
];
/** Native code or sockets inside; the web variant of the client is plain fetch. */
const NODE_PACKAGES = ['libsql', '@libsql/client', '@napi-rs/blake-hash', '@hono/node-server', 'ssh2'];
const WEB_VARIANTS = ['@libsql/client/web'];
/** Folders whose code also runs where there is no Node: in workerd or in a browser. */
const ANYWHERE = ['schema', 'api', 'web'];
const IMPURE = [
  ...['process', 'globalThis', 'window', 'document', 'localStorage', 'Buffer', 'fetch'],
  ...['Date.now', 'new Date', 'performance', 'Math.random', 'crypto'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
];
const PRINTS = ['console', 'process.stdout', 'process.stderr', 'process.emitWarning'];
const EXITS = ['process.exit', 'process.exitCode', 'process.abort', 'process.reallyExit'];

export function violationsIn(sources: readonly Source[]): Violation[] {
  const files = sources.map(({ path, text }) => scan(path, text));
  return [...files.flatMap(checkFile), ...cyclesIn(files)];
}

function checkFile(file: ScannedFile): Violation[] {
  return [
    ...file.imports.flatMap((entry) => checkImport(file, entry)),
    ...checkGlobals(file),
    ...checkShape(file),
  ];
}

function checkImport(file: ScannedFile, entry: Import): Violation[] {
  const { specifier } = entry;
  const broken = (rule: Violation['rule'], why: string): Violation[] => [
    { rule, message: `${file.path}:${entry.line} ${why}` },
  ];
  if (specifier === null)
    return broken('computed', 'imports a computed name, which no bundler and no test can follow');
  const why = isRelative(specifier)
    ? mistakeInOurs(file, entry, resolve(file, specifier))
    : mistakeInPackage(file, specifier, entry.typeOnly);
  return why === undefined ? [] : broken(...why);
}

type Mistake = readonly [rule: Violation['rule'], why: string];

function mistakeInOurs(file: ScannedFile, { typeOnly }: Import, target: string): Mistake | undefined {
  const from = folderOf(file.path);
  const to = folderOf(target);
  const rule = FOLDERS[from]!;
  if (NODE_ONLY_API.includes(target) && from === 'api' && !isNodeOnly(file) && !typeOnly) {
    return ['node', `imports ${target}, which runs only on Node`];
  }
  if (to === from || rule.imports.includes(to)) return undefined;
  if (!rule.types.includes(to)) return ['folder', `imports ${target}; ${from}/ may not import ${to}/`];
  return typeOnly ? undefined : ['type-only', `imports ${target}; of ${to}/ it may only 'import type'`];
}

function mistakeInPackage(file: ScannedFile, specifier: string, typeOnly: boolean): Mistake | undefined {
  const folder = folderOf(file.path);
  const builtin = specifier.replace(/^node:/, '');
  if (builtin === 'process' || builtin === 'console') {
    return ['node', `imports ${specifier}; use the global, so that its uses can be checked`];
  }
  if (needsNode(specifier)) {
    const allowed = typeOnly || !ANYWHERE.includes(folder) || isNodeOnly(file);
    return allowed ? undefined : ['node', `imports ${specifier}, which is not there in workerd or a browser`];
  }
  if (folder !== 'schema' || typeOnly || isPartOf(specifier, PURE_PACKAGES)) return undefined;
  return ['package', `imports ${specifier}, which is not in the list of pure packages`];
}

function checkGlobals(file: ScannedFile): Violation[] {
  const found: Violation[] = [];
  // A Worker has no other log than its console.
  const inRender = file.path.startsWith('cli/render/') || file.path === 'api/worker.ts';
  const isMain = file.path === 'cli/main.ts';
  for (const { name, line } of file.globals) {
    const broken = (rule: Violation['rule'], why: string) =>
      found.push({ rule, message: `${file.path}:${line} ${why}` });
    if (folderOf(file.path) === 'schema' && isOneOf(name, IMPURE))
      broken('pure', `uses ${name}; schema/ is pure`);
    if (!inRender && isOneOf(name, PRINTS)) broken('print', `uses ${name}; only cli/render/ prints`);
    if (!isMain && isOneOf(name, EXITS)) broken('exit', `uses ${name}; only cli/main.ts exits`);
    // Handed on or destructured, its members could no longer be followed.
    if (!inRender && !isMain && name === 'process')
      broken('print', 'uses process as a whole; name the member');
  }
  return found;
}

function checkShape({ path, isBarrel }: ScannedFile): Violation[] {
  const isIndex = /^index\.[jt]sx?$/.test(posix.basename(path));
  return isIndex || isBarrel
    ? [{ rule: 'barrel', message: `${path} is a barrel file; import from the files` }]
    : [];
}

/** Types and dynamic imports included: files that need each other are one subject, or hide a third. */
function cyclesIn(files: readonly ScannedFile[]): Violation[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (file: ScannedFile, trail: readonly string[]): void => {
    if (trail.includes(file.path)) {
      const loop = [...trail.slice(trail.indexOf(file.path)), file.path];
      found.push({ rule: 'cycle', message: `${loop.join(' → ')} is a cycle of imports` });
    }
    if (done.has(file.path)) return;
    done.add(file.path);
    for (const next of importedFiles(file, byPath)) visit(next, [...trail, file.path]);
  };
  for (const file of files) visit(file, []);
  return found;
}

function importedFiles(file: ScannedFile, byPath: ReadonlyMap<string, ScannedFile>): ScannedFile[] {
  return file.imports.flatMap(({ specifier }) => {
    if (specifier === null || !isRelative(specifier)) return [];
    return byPath.get(resolve(file, specifier)) ?? [];
  });
}

/** A whole covers its members: `console` also stands for `console.log`. */
function isOneOf(name: string, known: readonly string[]): boolean {
  return known.some((entry) => name === entry || name.startsWith(`${entry}.`));
}

function needsNode(specifier: string): boolean {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return true;
  return isPartOf(specifier, NODE_PACKAGES) && !WEB_VARIANTS.includes(specifier);
}

function isPartOf(specifier: string, packages: readonly string[]): boolean {
  return packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

function isNodeOnly({ path }: ScannedFile): boolean {
  return NODE_ONLY_API.includes(path);
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}

function resolve(file: ScannedFile, specifier: string): string {
  return posix.join(posix.dirname(file.path), specifier);
}

function folderOf(path: string): string {
  return path.split('/', 1)[0]!;
}
