// The files that a glob means, looked for segment by segment.

import { resolve } from 'node:path';
import picomatch from 'picomatch';
import { shown } from '../../schema/diagnostic.ts';
import { noPart, type Part, part } from './result.ts';
import { type Step, walk } from './walk.ts';

/** Paths relative to `root`, or absolute if the glob is; no match is a failure that names the glob. */
export function expandGlob(root: string, glob: string): Part<readonly string[]> {
  const isAbsolute = glob.startsWith('/');
  const found = walk(isAbsolute ? '/' : root, stepsOf(glob));
  if (!found.ok) return found;
  const files = found.value.filter(({ kind }) => kind === 'file');
  if (files.length === 0) return noPart(`no file matches '${shown(unescaped(glob))}'`);
  return part(files.map(({ path }) => (isAbsolute ? `/${path}` : path)));
}

/** A file itself, or every file of a directory that is not ignored. */
export function filesAt(root: string, path: string): Part<readonly string[]> {
  const steps: Step[] = namesOf(path).map((name) => ({ kind: 'name', name }));
  const from = path.startsWith('/') ? '/' : root;
  const itself = walk(from, steps);
  if (!itself.ok) return itself;
  const isDirectory = itself.value[0]?.kind === 'directory';
  const inside: Step[] = isDirectory ? [{ kind: 'deep' }, { kind: 'some', accepts: () => true }] : [];
  const found = isDirectory ? walk(from, [...steps, ...inside]) : itself;
  if (!found.ok) return found;
  const files = found.value.filter(({ kind }) => kind === 'file').map((each) => each.path);
  if (files.length === 0) return noPart(`there is no file at '${shown(path)}'`);
  return part(path.startsWith('/') ? files.map((each) => resolve('/', each)) : files);
}

const MAGIC = /(?<!\\)(?:\\\\)*[*?[{(]/;

function stepsOf(glob: string): readonly Step[] {
  return namesOf(glob).map((name): Step => {
    if (name === '**') return { kind: 'deep' };
    if (!MAGIC.test(name)) return { kind: 'name', name: unescaped(name) };
    // Without `s` a name that begins with a line break would match nothing.
    const accepts = picomatch(name, { nonegate: true, flags: 's' }) as (name: string) => boolean;
    return { kind: 'some', accepts };
  });
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
