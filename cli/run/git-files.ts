// The files of a workflow that belong into git: what it records about outputs, never the outputs themselves.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type LoadedWorkflow, stemOf } from '../load-file.ts';

export interface GitFile {
  readonly path: string;
  readonly change: 'new' | 'modified';
}

export interface GitFiles {
  /** Those that are other than they were when this was made. */
  changed(): readonly GitFile[];
  isLockChanged(): boolean;
}

export function gitFiles({ path }: Pick<LoadedWorkflow, 'path'>): GitFiles {
  const beside = (end: string) => join(dirname(path), `${stemOf(path)}${end}`);
  const lock = beside('.lock.yaml');
  const before = [lock, beside('.events.jsonl')].map((file) => ({ file, text: readIfThere(file) }));
  const isOther = ({ file, text }: (typeof before)[number]) => {
    const now = readIfThere(file);
    return now !== null && (text === null || !now.equals(text));
  };
  return {
    changed: () =>
      before
        .filter(isOther)
        .map(({ file, text }) => ({ path: file, change: text === null ? 'new' : 'modified' })),
    isLockChanged: () => isOther(before[0]!),
  };
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
