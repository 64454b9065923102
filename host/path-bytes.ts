// Lists a directory and tells apart the names that are not UTF-8, which no string can carry.

import { isUtf8 } from 'node:buffer';
import type { Disk, DiskEntry } from './disk.ts';

export interface Listing {
  readonly entries: readonly DiskEntry<string>[];
  readonly unusable: readonly UnusableName[];
}

export interface UnusableName {
  /** With U+FFFD for what could not be read: good for comparing with a pattern, not for opening. */
  readonly lossy: string;
  /** For a person: each odd byte as `\xNN`. */
  readonly shown: string;
}

export const NOT_UTF8 = 'its name is not UTF-8: rename it';

/** Bytes are only asked for when a name looks odd, because U+FFFD is also a character that a name may have. */
export function listDirectory(disk: Disk, path: string): Listing {
  const entries = disk.list(path);
  if (!entries.some(({ name }) => name.includes('\uFFFD'))) return { entries, unusable: [] };
  const found = disk.listBytes(path);
  return {
    entries: found.filter(({ name }) => isUtf8(name)).map(withTextName),
    unusable: found.filter(({ name }) => !isUtf8(name)).map(({ name }) => unusableName(name)),
  };
}

function withTextName(entry: DiskEntry<Buffer>): DiskEntry<string> {
  return {
    name: entry.name.toString(),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  };
}

function unusableName(name: Buffer): UnusableName {
  const shown = name
    .toString('latin1')
    .replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return { lossy: name.toString(), shown };
}
