// Follows a path whose segments may stand for many names through the directories below.

import { resolve } from 'node:path';
import { DISK, type Stamp, whyUnreadable } from '../../host/disk.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { listDirectory, NOT_UTF8 } from '../../host/path-bytes.ts';
import { compareCodePoints } from '../../schema/canonical.ts';
import { shown } from '../../schema/diagnostic.ts';
import { noPart, type Part, part } from './result.ts';

export type Step =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'some'; readonly accepts: (name: string) => boolean }
  /** `**`: any number of directories, links not followed. */
  | { readonly kind: 'deep' };

export interface Reached {
  /** The names from where the walk began, joined by `/`. */
  readonly path: string;
  readonly kind: Stamp['kind'];
}

/** What is there, in the order of code points; what cannot be listed is a failure, for a part is no list. */
export function walk(from: string, steps: readonly Step[]): Part<readonly Reached[]> {
  const reached = new Map<string, Reached>();
  try {
    visit({ from, steps, reached }, '', 0);
  } catch (error) {
    if (error instanceof UnusableName) return noPart(error.message);
    return noPart(`cannot look into '${shown(from)}': ${whyUnreadable(error) ?? 'it is gone'}`);
  }
  return part([...reached.values()].sort((a, b) => compareCodePoints(a.path, b.path)));
}

interface Walk {
  readonly from: string;
  readonly steps: readonly Step[];
  readonly reached: Map<string, Reached>;
}

class UnusableName extends Error {}

const IGNORE = ignoreRule();

function visit(walking: Walk, path: string, at: number): void {
  const step = walking.steps[at];
  if (step === undefined) arrive(walking, path);
  else if (step.kind === 'name') visit(walking, below(path, step.name), at + 1);
  else visitMany(walking, path, at, step);
}

function visitMany(walking: Walk, path: string, at: number, step: Exclude<Step, { kind: 'name' }>): void {
  const entries = entriesOf(walking, path);
  if (step.kind === 'deep') visit(walking, path, at + 1);
  for (const entry of entries) {
    const next = below(path, entry.name);
    if (step.kind === 'some' && step.accepts(entry.name)) visit(walking, next, at + 1);
    if (step.kind === 'deep' && entry.isDirectory() && !entry.name.startsWith('.')) visit(walking, next, at);
  }
}

function arrive({ from, reached }: Walk, path: string): void {
  const stamp = DISK.stat(resolve(from, path));
  if (stamp !== null) reached.set(path, { path, kind: stamp.kind });
}

function entriesOf({ from }: Walk, path: string) {
  const directory = resolve(from, path);
  if (DISK.stat(directory)?.kind !== 'directory') return [];
  const { entries, unusable } = listDirectory(DISK, directory);
  if (unusable.length > 0) throw new UnusableName(`cannot use '${unusable[0]!.shown}': ${NOT_UTF8}`);
  return entries.filter(({ name }) => !IGNORE.ignores(name));
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
