// The files of a workflow that belong into git: what it records about outputs, never the outputs themselves.

import { statSync } from 'node:fs';
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
  const before = [lock, beside('.events.jsonl')].map((file) => ({ file, stamp: stampOf(file) }));
  const isOther = ({ file, stamp }: (typeof before)[number]) => {
    const now = stampOf(file);
    return now !== null && now !== stamp;
  };
  return {
    changed: () =>
      before
        .filter(isOther)
        .map(({ file, stamp }) => ({ path: file, change: stamp === null ? 'new' : 'modified' })),
    isLockChanged: () => isOther(before[0]!),
  };
}

/** Both are only written where they get other bytes. */
function stampOf(file: string): string | null {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}
