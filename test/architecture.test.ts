// Enforces the import table of DESIGN "Folders", and checks on made-up sources that the checker would notice.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FOLDERS, type Violation, violationsIn } from './rig/architecture.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

it('keeps every source file to the import table, free of cycles, barrels, stray prints and exits', () => {
  const present = Object.keys(FOLDERS).filter((folder) => existsSync(join(ROOT, folder)));
  expect(present).toEqual(expect.arrayContaining(['schema', 'api', 'host', 'cli']));
  const sources = present.flatMap(sourcesIn);
  expect(sources.length).toBeGreaterThan(10);
  expect(violationsIn(sources).map(({ message }) => message)).toEqual([]);
});

function sourcesIn(folder: string) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[jt]sx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }));
}

type Sources = Readonly<Record<string, string>>;

function rulesBrokenBy(sources: Sources): Violation['rule'][] {
  const files = Object.entries(sources).map(([path, text]) => ({ path, text }));
  return violationsIn(files).map(({ rule }) => rule);
}

describe('the checker notices', () => {
  it.each<[string, Violation['rule'], Sources]>([
    ['schema importing another folder', 'folder', { 'schema/a.ts': "import { x } from '../host/x.ts';" }],
    ['schema importing even a type', 'folder', { 'schema/a.ts': "import type { X } from '../api/x.ts';" }],
    ['schema importing a node module', 'node', { 'schema/a.ts': "import { join } from 'node:path';" }],
    ['schema importing a node module by its bare name', 'node', { 'schema/a.ts': "import fs from 'fs';" }],
    [
      'schema importing a package that is not pure',
      'package',
      { 'schema/a.ts': "import { Hono } from 'hono';" },
    ],
    ['schema reading the clock', 'pure', { 'schema/a.ts': 'export const t = Date.now();' }],
    ['schema making a date of now', 'pure', { 'schema/a.ts': 'export const t = new Date();' }],
    ['schema being random', 'pure', { 'schema/a.ts': 'export const r = Math.random();' }],
    ['schema fetching', 'pure', { 'schema/a.ts': "export const r = fetch('x');" }],
    ['schema handing fetch on', 'pure', { 'schema/a.ts': 'export const r = { fetch };' }],
    ['schema reading the environment', 'pure', { 'schema/a.ts': 'export const e = process.env.HOME;' }],
    ['schema reaching a global by its text', 'pure', { 'schema/a.ts': "export const t = Date['now']();" }],
    ['api importing host', 'folder', { 'api/a.ts': "import { x } from '../host/x.ts';" }],
    ['api importing a node module', 'node', { 'api/a.ts': "import { join } from 'node:path';" }],
    ['api importing native code', 'node', { 'api/a.ts': "import Database from 'libsql';" }],
    ['api importing its Node entry', 'node', { 'api/a.ts': "import { serve } from './node.ts';" }],
    ['host importing a value of api', 'type-only', { 'host/a.ts': "import { app } from '../api/app.ts';" }],
    [
      'host loading api for a type',
      'type-only',
      { 'host/a.ts': "import { type App } from '../api/app.ts';" },
    ],
    ['watcher importing runner', 'folder', { 'watcher/a.ts': "import { x } from '../runner/x.ts';" }],
    ['runner importing watcher, lazily', 'folder', { 'runner/a.ts': "const x = import('../watcher/x.ts');" }],
    ['runner re-exporting cli', 'folder', { 'runner/a.ts': "export { x } from '../cli/x.ts'; const a = 1;" }],
    ['runner requiring api', 'folder', { 'runner/a.ts': "const x = require('../api/x.ts');" }],
    ['runner naming a type of watcher', 'folder', { 'runner/a.ts': "type X = import('../watcher/x.ts').X;" }],
    ['web importing host', 'folder', { 'web/a.tsx': "import { x } from '../host/x.ts';" }],
    ['web importing a node module', 'node', { 'web/a.ts': "import { join } from 'node:path';" }],
    ['a program importing the tests', 'folder', { 'cli/a.ts': "import { x } from '../test/rig/cli.ts';" }],
    ['a computed import', 'computed', { 'cli/a.ts': 'export const load = (name: string) => import(name);' }],
    [
      'a cycle',
      'cycle',
      { 'host/a.ts': "import './b.ts';", 'host/b.ts': "import type { A } from './a.ts';" },
    ],
    ['an index file', 'barrel', { 'host/index.ts': 'export const a = 1;' }],
    ['a file that only re-exports', 'barrel', { 'host/all.ts': "export * from './a.ts';" }],
    ['a print', 'print', { 'runner/a.ts': "console.log('x');" }],
    ['a write to stdout', 'print', { 'cli/validate.ts': "process.stdout.write('x');" }],
    ['streams taken out of process', 'print', { 'cli/a.ts': 'const { stdout } = process;' }],
    ['process under another name', 'node', { 'cli/a.ts': "import p from 'node:process';" }],
    ['an exit', 'exit', { 'cli/validate.ts': 'process.exit(1);' }],
    ['an exit code set', 'exit', { 'runner/a.ts': 'process.exitCode = 1;' }],
  ])('%s', (_title, rule, sources) => {
    expect(rulesBrokenBy(sources)).toEqual([rule]);
  });
});

describe('the checker allows', () => {
  it.each<[string, Sources]>([
    [
      'schema its own files and pure packages',
      { 'schema/a.ts': "import { b } from './b.ts'; import 'yaml';" },
    ],
    ['schema a date that was passed in', { 'schema/a.ts': 'export const d = (ms: number) => new Date(ms);' }],
    [
      'members and parameters named like globals',
      { 'schema/a.ts': 'export const f = (fetch: F) => fetch(a.process);' },
    ],
    ['the type of a global', { 'schema/a.ts': 'export type F = typeof fetch;' }],
    [
      'words in comments and strings',
      { 'schema/a.ts': "// import 'node:fs'\nexport const s = 'process.exit()';" },
    ],
    [
      'api the web client and schema',
      { 'api/a.ts': "import '@libsql/client/web'; import '../schema/a.ts';" },
    ],
    ['the Node entry of api its node modules', { 'api/node.ts': "import 'node:http'; import 'libsql';" }],
    ['host the types of api', { 'host/a.ts': "import type { App } from '../api/app.ts';" }],
    [
      'watcher and runner schema and host',
      { 'watcher/a.ts': "import '../schema/a.ts'; import '../host/a.ts';" },
    ],
    ['cli everything', { 'cli/a.ts': "import '../api/a.ts'; const r = import('../runner/a.ts');" }],
    [
      'cli/render to print and cli/main to exit',
      { 'cli/render/a.ts': 'console.log(1);', 'cli/main.ts': 'process.exit(0);' },
    ],
    [
      'files that share an import',
      { 'host/a.ts': "import './b.ts'; import './c.ts';", 'host/b.ts': "import './c.ts';", 'host/c.ts': '' },
    ],
  ])('%s', (_title, sources) => {
    expect(rulesBrokenBy(sources)).toEqual([]);
  });
});
