// `sluice init [FILE]`: a starter that works at once. Nothing that exists is overwritten.

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { WriteError, writeFileAtomic } from '../host/atomic-write.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, EXIT, type ExitCode, type Invocation } from './command.ts';
import { IGNORED_STATE, ignoredBeside, SAMPLES, STARTER_PLAYBOOK } from './starter.ts';
import { orExplain } from './write-error.ts';

const DEFAULT_FILE = 'playbook.yaml';

export async function run({ positionals, io }: Invocation): Promise<ExitCode> {
  const file = positionals[0] ?? DEFAULT_FILE;
  const path = resolve(io.cwd, file);
  if (isThere(path)) throw alreadyThere(file);
  const written: string[] = [];
  orExplain(() => {
    written.push(...writeSamples(dirname(path)), ...ignoreInGit(path));
    // Last, because it is what makes a second attempt be refused.
    written.push(write(path, STARTER_PLAYBOOK));
  });
  for (const each of written) io.stdout.write(`wrote ${shown(relative(io.cwd, each))}\n`);
  io.stdout.write(`next: sluice run ${shown(asWord(file))}\n`);
  return EXIT.done;
}

/** A link that leads nowhere is there, too. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function alreadyThere(file: string): CliError {
  return new CliError({
    code: 'file-exists',
    message: `${shown(file)} exists already`,
    hint: 'name another file: sluice init FILE',
  });
}

/** Only into a folder that is new or empty: in any other, the files that are there are what to work on. */
function writeSamples(directory: string): string[] {
  const folder = join(directory, SAMPLES.folder);
  const isEmpty = attempt(folder, () => {
    mkdirSync(folder, { recursive: true });
    return readdirSync(folder).length === 0;
  });
  if (!isEmpty) return [];
  return Object.entries(SAMPLES.files).map(([name, content]) => write(join(folder, name), content));
}

function ignoreInGit(path: string): string[] {
  const directory = dirname(path);
  const root = projectRoot(directory);
  const beside = ignoredBeside(basename(path));
  if (root === directory) return addLines(join(root, '.gitignore'), [...IGNORED_STATE, ...beside]);
  return [
    ...addLines(join(root, '.gitignore'), IGNORED_STATE),
    ...addLines(join(directory, '.gitignore'), beside),
  ];
}

/** Where `.sluice/` is or will be. */
function projectRoot(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.sluice')) || existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return directory;
  }
}

/** Those that are not there yet. */
function addLines(path: string, lines: readonly string[]): string[] {
  const before = attempt(path, () => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
  const present = new Set(before.split('\n').map((line) => line.trim()));
  const missing = lines.filter((line) => !present.has(line));
  if (missing.length === 0) return [];
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  return [write(path, `${before}${gap}${missing.join('\n')}\n`)];
}

function write(path: string, content: string): string {
  writeFileAtomic(path, content);
  return path;
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw new WriteError(path, cause);
  }
}

/** As a shell reads it back. */
function asWord(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}
