// What tells that a file or a directory's listing is what it was, whatever became of its stamp. Loaded before anything
// else is, so it may import nothing heavy.

import type { HashBytes } from '../schema/blake3.ts';
import type { Blake3Implementation } from './blake3.ts';
import { DISK, type DiskEntry } from './disk.ts';

const CHUNK_BYTES = 256 * 1024;
/** Shared: it is filled and hashed without a pause in between. */
let chunk: Buffer | null = null;

/** Of a regular file, as long as it was a moment ago. Throws if it cannot be read. */
export function contentDigest(path: string, size: number, { hash, start }: Blake3Implementation): Uint8Array {
  chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const fd = DISK.open(path);
  try {
    if (size <= chunk.length) return hash(chunk.subarray(0, fill(fd, chunk, size)));
    const stream = start();
    for (let left = size; left > 0; ) {
      const filled = fill(fd, chunk, Math.min(left, chunk.length));
      if (filled === 0) break;
      stream.update(chunk.subarray(0, filled));
      left -= filled;
    }
    return stream.digest();
  } finally {
    DISK.close(fd);
  }
}

function fill(fd: number, into: Buffer, most: number): number {
  let filled = 0;
  while (filled < most) {
    const count = DISK.read(fd, into.subarray(0, most), filled);
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
