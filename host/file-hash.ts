// The hash of one file or link: small files in one native call, large ones in chunks with pauses between.

import { asBlake3 } from '../schema/blake3.ts';
import type { Blake3 } from '../schema/words.ts';
import type { Blake3Implementation } from './blake3.ts';
import { type Disk, type Stamp, sameStamp, whyUnreadable } from './disk.ts';
import type { IgnoreRule } from './ignore.ts';
import type { Slice, Sliced } from './slices.ts';
import { NONE, type Slot, type StatCache } from './stat-cache.ts';

/** What looking at content takes. */
export interface Look {
  readonly disk: Disk;
  readonly blake3: Blake3Implementation;
  readonly cache: StatCache;
  readonly ignore: IgnoreRule;
  readonly nowMs: () => number;
  /** Shared: it is filled and hashed without a pause in between. */
  readonly chunk: Uint8Array;
}

export interface FileContent {
  readonly kind: 'file' | 'link';
  readonly hash: Blake3;
  readonly size: number;
  /** The cache entry of this content; NONE if it is not remembered. */
  readonly slot: Slot;
}

export interface Missing {
  readonly kind: 'missing';
}

export interface Unreadable {
  readonly kind: 'unreadable';
  /** Of what is in the way, which may lie deep in the directory that was asked about. */
  readonly path: string;
  readonly reason: string;
}

/** Measured: from 128 KiB on larger chunks are not faster, and up to here one call costs half of a stream. */
export const CHUNK_BYTES = 256 * 2 ** 10;

/** `stamp` is from just before; a hash is remembered only if the file still has it after reading. */
export function* hashFile(
  look: Look,
  path: string,
  stamp: Stamp,
  slice: Slice,
): Sliced<FileContent | Missing | Unreadable> {
  const known = look.cache.find(path, stamp);
  if (known !== NONE) return { kind: 'file', hash: look.cache.hashAt(known), size: stamp.size, slot: known };
  const lookedAtMs = look.nowMs();
  try {
    const { hash, size, after } = yield* readThrough(look, path, stamp.size, slice);
    // Written to while it was read: this hash will not last, and the next look reads again.
    const lasts = sameStamp(stamp, after) && size === stamp.size;
    const slot = lasts ? look.cache.remember(path, stamp, hash, lookedAtMs) : NONE;
    return { kind: 'file', hash, size, slot };
  } catch (error) {
    return failed(path, error);
  }
}

/** A link inside a tree stands for the text of its target, byte for byte, whether or not that exists. */
export function hashLink(look: Look, path: string, stamp: Stamp): FileContent | Missing | Unreadable {
  // Asked for by itself the same path is followed, so that has an entry of its own. No path contains NUL.
  const key = `${path}\0link`;
  const known = look.cache.find(key, stamp);
  if (known !== NONE) return { kind: 'link', hash: look.cache.hashAt(known), size: 0, slot: known };
  const lookedAtMs = look.nowMs();
  try {
    const hash = asBlake3(look.blake3.hash(look.disk.readLink(path)));
    return { kind: 'link', hash, size: 0, slot: look.cache.remember(key, stamp, hash, lookedAtMs) };
  } catch (error) {
    return failed(path, error);
  }
}

export function notAFile(path: string): Unreadable {
  const reason =
    'it is a pipe, a socket or a device, which has no content to hash: move it away or ignore it';
  return { kind: 'unreadable', path, reason };
}

export function stampOf(path: string, take: () => Stamp | null): Stamp | Missing | Unreadable {
  try {
    return take() ?? { kind: 'missing' };
  } catch (error) {
    return failed(path, error);
  }
}

export function failed(path: string, error: unknown): Missing | Unreadable {
  const reason = whyUnreadable(error);
  return reason === null ? { kind: 'missing' } : { kind: 'unreadable', path, reason };
}

function* readThrough(look: Look, path: string, expectedSize: number, slice: Slice) {
  const fd = look.disk.open(path);
  try {
    const filled = fill(look, fd, expectedSize);
    const isWhole = filled < look.chunk.length;
    const { hash, size } = isWhole ? hashChunk(look, filled) : yield* hashStream(look, fd, filled, slice);
    return { hash, size, after: look.disk.fstat(fd) };
  } finally {
    look.disk.close(fd);
  }
}

function hashChunk({ blake3, chunk }: Look, filled: number) {
  return { hash: `blake3:${blake3.hex(chunk.subarray(0, filled))}` as Blake3, size: filled };
}

function* hashStream(look: Look, fd: number, first: number, slice: Slice) {
  const { blake3, chunk } = look;
  const stream = blake3.start();
  let size = 0;
  for (let filled = first; filled > 0; filled = fill(look, fd, 0)) {
    stream.update(chunk.subarray(0, filled));
    size += filled;
    if (slice.spend(filled)) yield;
  }
  return { hash: asBlake3(stream.digest()), size };
}

/** Stops at the expected size, which saves a small file the read that only says "end". */
function fill({ disk, chunk }: Look, fd: number, expectedSize: number): number {
  let filled = 0;
  while (filled < chunk.length) {
    const count = disk.read(fd, chunk, filled);
    filled += count;
    if (count === 0 || filled === expectedSize) break;
  }
  return filled;
}
