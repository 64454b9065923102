// The file that a clean snapshot is kept in: read in one go, and patched in place.
//
//   header (a line of JSON, padded) · names · numbers, five per look · digests, 32 bytes per look
//
// Names stand under their directory, each directory followed by how many there are.

import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from './atomic-write.ts';

const VERSION = 4;
/** Per look: flags, mtime, ctime, size, inode. */
export const COLUMNS = 5;
export const DIGEST_BYTES = 32;
/** Beyond this many all rows are written in one go. */
const FEW = 64;

/** What the first number of a look says of it. */
export const FLAG = {
  stat: 1,
  lstat: 2,
  /** Its content has been told to the control plane as that of this very path, and of no tree around it. */
  told: 4,
  /** A directory: the digest is that of its listing. */
  listed: 8,
  /** Only we write it, so its stamp can be relied on however young it is. */
  own: 16,
  /** One of our own that must have nothing in it, or not be there. */
  empty: 32,
} as const;

interface Header {
  readonly version: number;
  /** Of the program, the options and the workflow: a snapshot of anything else says nothing. */
  readonly key: string;
  readonly summary: unknown;
  readonly looks: number;
  readonly textBytes: number;
}

export interface CleanRow {
  readonly path: string;
  readonly numbers: readonly number[];
  /** Null where nothing but the stamp tells. */
  readonly digest: Uint8Array | null;
}

export interface CleanFile {
  readonly summary: unknown;
  readonly numbers: Float64Array;
  readonly digests: Uint8Array;
  /** Every look from a row on, until the callback says no; false if it did. */
  each(from: number, look: (path: string, row: number) => boolean): boolean;
  readonly looks: number;
  /** By path; several where a link was looked at both ways. */
  rowsOf(paths: Iterable<string>): ReadonlyMap<string, readonly number[]>;
  /** Puts rows as they are in memory now into the file. */
  writeRows(rows: readonly number[]): void;
}

/** Null if it is that of another question. */
export function readCleanFile(file: string, key: string): CleanFile | null {
  const bytes = readFileSync(file);
  const textStart = bytes.indexOf(10) + 1;
  const header = JSON.parse(bytes.toString('utf8', 0, textStart)) as Header;
  if (header.version !== VERSION || header.key !== key) return null;
  const { looks, textBytes, summary } = header;
  const numbersStart = textStart + textBytes;
  const digestsStart = numbersStart + looks * COLUMNS * 8;
  if (bytes.length !== digestsStart + looks * DIGEST_BYTES) return null;
  const numbers = numbersIn(bytes, numbersStart, looks * COLUMNS);
  const digests = bytes.subarray(digestsStart);
  const words = bytes.toString('utf8', textStart, numbersStart).split('\0');
  return {
    summary,
    numbers,
    digests,
    looks,
    each: (from, look) => eachLook(words, from, look),
    rowsOf: (paths) => rowsOf(words, paths),
    writeRows(rows) {
      const fd = openSync(file, 'r+');
      const write = (from: number, to: number) => {
        const stamps = bytesOf(numbers.subarray(from * COLUMNS, to * COLUMNS));
        writeSync(fd, stamps, 0, stamps.length, numbersStart + from * COLUMNS * 8);
        const at = from * DIGEST_BYTES;
        writeSync(fd, digests, at, (to - from) * DIGEST_BYTES, digestsStart + at);
      };
      try {
        if (rows.length > FEW) write(0, looks);
        else for (const row of rows) write(row, row + 1);
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** A view where the bytes lie as wide numbers must. */
function numbersIn(bytes: Buffer, start: number, count: number): Float64Array {
  const at = bytes.byteOffset + start;
  if (at % 8 === 0) return new Float64Array(bytes.buffer, at, count);
  return new Float64Array(new Uint8Array(bytes.subarray(start, start + count * 8)).buffer);
}

function eachLook(
  words: readonly string[],
  from: number,
  look: (path: string, row: number) => boolean,
): boolean {
  let row = 0;
  for (let at = 0; at < words.length - 1; ) {
    const directory = words[at]!;
    const end = at + 2 + Number(words[at + 1]);
    for (at += 2; at < end; at++, row++) {
      if (row >= from && !look(directory + words[at]!, row)) return false;
    }
  }
  return true;
}

/** Goes only through directories that one of them is in. */
function rowsOf(words: readonly string[], paths: Iterable<string>): Map<string, number[]> {
  const wanted = new Map<string, Set<string>>();
  for (const path of paths) {
    const directory = directoryOf(path);
    const names = wanted.get(directory) ?? new Set();
    wanted.set(directory, names.add(nameOf(path)));
  }
  const rows = new Map<string, number[]>();
  for (let [at, row] = [0, 0]; at < words.length - 1; ) {
    const [directory, count] = [words[at]!, Number(words[at + 1])];
    const names = wanted.get(directory);
    for (let i = 0; names !== undefined && i < count; i++) {
      const name = words[at + 2 + i]!;
      if (!names.has(name)) continue;
      const path = directory + name;
      rows.set(path, [...(rows.get(path) ?? []), row + i]);
    }
    at += 2 + count;
    row += count;
  }
  return rows;
}

export function writeCleanFile(file: string, key: string, summary: unknown, rows: readonly CleanRow[]): void {
  const byDirectory = new Map<string, CleanRow[]>();
  for (const row of rows) {
    const directory = directoryOf(row.path);
    const siblings = byDirectory.get(directory);
    if (siblings === undefined) byDirectory.set(directory, [row]);
    else siblings.push(row);
  }
  const words: string[] = [];
  const numbers = new Float64Array(rows.length * COLUMNS);
  const digests = Buffer.alloc(rows.length * DIGEST_BYTES);
  let at = 0;
  for (const [directory, siblings] of byDirectory) {
    words.push(directory, String(siblings.length));
    for (const { path, numbers: stamp, digest } of siblings) {
      words.push(nameOf(path));
      numbers.set(stamp, at * COLUMNS);
      if (digest !== null) digests.set(digest, at * DIGEST_BYTES);
      at += 1;
    }
  }
  const text = Buffer.from(`${words.join('\0')}\0`);
  const header: Header = { version: VERSION, key, summary, looks: rows.length, textBytes: text.length };
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomic(file, Buffer.concat([padded(header, text.length), text, bytesOf(numbers), digests]));
}

function directoryOf(path: string): string {
  return path === '/' ? '' : join(dirname(path), '/');
}

function nameOf(path: string): string {
  return path === '/' ? '/' : basename(path);
}

/** So that the numbers behind the text begin at a multiple of their width. */
function padded(header: Header, textBytes: number): Buffer {
  const line = Buffer.from(JSON.stringify(header));
  const spaces = (8 - ((line.length + 1 + textBytes) % 8)) % 8;
  return Buffer.concat([line, Buffer.from(`${' '.repeat(spaces)}\n`)]);
}

function bytesOf(numbers: Float64Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
