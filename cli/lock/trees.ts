// What was in each output directory, file by file, when it was made. The lock file has one hash for a whole directory;
// with this `lock --verify` can also say which files in it are different. Only a help: without it, it says less.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../../host/atomic-write.ts';
import type { PathHasher } from '../../host/path-hash.ts';
import { type Ignores, listedBelow } from './listing.ts';

export interface Tree {
  /** Of the directory as a whole. */
  readonly hash: string;
  readonly files: ReadonlyMap<string, string>;
}

export interface FileDifference {
  /** Relative to the directory. */
  readonly path: string;
  readonly change: 'changed' | 'new' | 'gone';
}

/** Above this many files it is not worth its while. */
const MOST_FILES = 100_000;

export interface TreeContext extends Ignores {
  readonly hasher: PathHasher;
}

/** Null if there is no directory that can be read. */
export function readTree(directory: string, context: TreeContext): Tree | null {
  const content = context.hasher.hashPath(directory);
  if (content.kind !== 'directory' || content.files > MOST_FILES) return null;
  const files = new Map<string, string>();
  for (const { path, isLink } of listedBelow(directory, context)) {
    const at = join(directory, path);
    if (isLink) files.set(path, `link ${readlinkSync(at)}`);
    else {
      const file = context.hasher.hashPath(at);
      files.set(path, 'hash' in file ? file.hash : file.kind);
    }
  }
  return { hash: content.hash, files };
}

export function keepTree(own: string, directory: string, { hash, files }: Tree): void {
  const file = fileFor(own, directory);
  mkdirSync(join(own, 'trees'), { recursive: true });
  writeFileAtomic(file, JSON.stringify({ hash, files: [...files] }));
}

export function keptTree(own: string, directory: string): Tree | null {
  try {
    const { hash, files } = JSON.parse(readFileSync(fileFor(own, directory), 'utf8'));
    return { hash, files: new Map(files) };
  } catch {
    return null;
  }
}

export function differences(before: Tree, now: Tree): FileDifference[] {
  const changed = [...now.files].flatMap(([path, hash]): FileDifference[] => {
    const old = before.files.get(path);
    if (old === undefined) return [{ path, change: 'new' }];
    return old === hash ? [] : [{ path, change: 'changed' }];
  });
  const gone = [...before.files.keys()].filter((path) => !now.files.has(path));
  return [...changed, ...gone.map((path): FileDifference => ({ path, change: 'gone' }))].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  );
}

function fileFor(own: string, directory: string): string {
  return join(own, 'trees', createHash('sha256').update(directory).digest('hex').slice(0, 32));
}
