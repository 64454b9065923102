// What is at a path, by content: the one question that watcher and runner ask about files.

import { type Blake3, unreachable } from '../schema/words.ts';
import type { Blake3Implementation } from './blake3.ts';
import { type DirectoryContent, hashTree } from './directory-hash.ts';
import { DISK, type Disk, type Stamp } from './disk.ts';
import {
  CHUNK_BYTES,
  type FileContent,
  hashFile,
  type Look,
  type Missing,
  notAFile,
  stampOf,
  type Unreadable,
} from './file-hash.ts';
import { type IgnoreRule, ignoreRule } from './ignore.ts';
import { runAtOnce, runInSlices, Slice, type Sliced } from './slices.ts';
import type { StatCache } from './stat-cache.ts';

export type Content =
  | { readonly kind: 'file'; readonly hash: Blake3; readonly size: number }
  | { readonly kind: 'directory'; readonly hash: Blake3; readonly files: number; readonly size: number }
  | Missing
  | Unreadable;

export interface PathHasher {
  /** An absolute path; a link there is followed. `stamp`, if the caller has just taken it, saves taking it again. */
  hashPath(path: string, stamp?: Stamp): Content;
  /** The same with pauses, for what may be large: at once it would hold up the heartbeats. */
  hashPathInSlices(path: string, stamp?: Stamp): Promise<Content>;
}

export interface PathHasherOptions {
  readonly blake3: Blake3Implementation;
  readonly cache: StatCache;
  readonly nowMs: () => number;
  readonly ignore?: IgnoreRule;
  readonly disk?: Disk;
}

export function createPathHasher(options: PathHasherOptions): PathHasher {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const look: Look = { disk: DISK, ignore: ignoreRule(), ...options, chunk };
  return {
    hashPath: (path, stamp) => runAtOnce(hashContent(look, path, stamp)),
    hashPathInSlices: (path, stamp) => runInSlices(hashContent(look, path, stamp)),
  };
}

function* hashContent(look: Look, written: string, known: Stamp | undefined): Sliced<Content> {
  // One key per place, however its path is written.
  const path = written.length > 1 && written.endsWith('/') ? written.slice(0, -1) : written;
  const stamp = known ?? stampOf(path, () => look.disk.stat(written));
  switch (stamp.kind) {
    case 'file':
      return withoutSlot(yield* hashFile(look, path, stamp, new Slice()));
    case 'directory':
      return withoutSlot(yield* hashTree(look, path, stamp, new Slice()));
    case 'other':
    case 'link':
      return notAFile(path);
    case 'missing':
      look.cache.forget(path);
      return stamp;
    case 'unreadable':
      return stamp;
    default:
      return unreachable(stamp);
  }
}

function withoutSlot(content: FileContent | DirectoryContent | Missing | Unreadable): Content {
  switch (content.kind) {
    case 'file':
    case 'link':
      return { kind: 'file', hash: content.hash, size: content.size };
    case 'directory':
      return { kind: 'directory', hash: content.hash, files: content.files, size: content.size };
    case 'missing':
    case 'unreadable':
      return content;
    default:
      return unreachable(content);
  }
}
