// What tells that a file or a directory's listing is what it was, whatever became of its stamp. Loaded before anything
// else is, so it may import nothing heavy.

import type { HashBytes } from '../schema/blake3.ts';
import type { Blake3Implementation } from './blake3.ts';
import { DISK, type DiskEntry } from './disk.ts';

const CHUNK_BYTES = 256 * 1024;

/** Of a regular file. Throws if it cannot be read. */
export function contentDigest(path: string, size: number, { hash, start }: Blake3Implementation): Uint8Array {
  const fd = DISK.open(path);
  try {
    const chunk = Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
    const first = fill(fd, chunk);
    if (first < chunk.length) return hash(chunk.subarray(0, first));
    const stream = start();
    for (let filled = first; filled > 0; filled = fill(fd, chunk)) stream.update(chunk.subarray(0, filled));
    return stream.digest();
  } finally {
    DISK.close(fd);
  }
}

function fill(fd: number, chunk: Uint8Array): number {
  let filled = 0;
  while (filled < chunk.length) {
    const count = DISK.read(fd, chunk, filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** In the order in which they are listed, which is that of their names. */
export function listingDigest(entries: readonly DiskEntry<string>[], hash: HashBytes): Uint8Array {
  let text = '';
  for (const entry of entries) text += `${entry.name}/${kindOf(entry)}`;
  return hash(Buffer.from(text));
}

function kindOf(entry: DiskEntry<string>): string {
  return entry.isDirectory() ? 'd' : entry.isSymbolicLink() ? 'l' : 'f';
}
