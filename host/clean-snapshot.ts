// Remembers a verdict of "nothing to do" together with every look it was reached by (SEMANTICS 22).
//
// It is checked before anything else is loaded, so it may import nothing heavy. It caches the verdict and is never a
// second one: any doubt, and the long way is taken.

import { lstatSync, mkdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from './atomic-write.ts';
import type { Looked } from './look-record.ts';

const VERSION = 1;
/** Per look: how, mtime, ctime, size, inode. */
const COLUMNS = 5;
const HOW = { missing: 0, stat: 1, lstat: 2 } as const;

interface Header {
  readonly version: number;
  /** Of the program, the options and the workflow: a snapshot of anything else says nothing. */
  readonly key: string;
  readonly summary: unknown;
  readonly looks: number;
  readonly textBytes: number;
}

/** The summary that was kept, or null if anything is not as it was. */
export function readClean<Summary>(file: string, key: string): Summary | null {
  try {
    const bytes = readFileSync(file);
    const headerEnd = bytes.indexOf(10);
    const header = JSON.parse(bytes.toString('utf8', 0, headerEnd)) as Header;
    if (header.version !== VERSION || header.key !== key) return null;
    const textStart = headerEnd + 1;
    const text = bytes.toString('utf8', textStart, textStart + header.textBytes);
    const numbers = new Float64Array(header.looks * COLUMNS);
    bytes.copy(new Uint8Array(numbers.buffer), 0, textStart + header.textBytes);
    return isUnchanged(text.split('\0'), numbers) ? (header.summary as Summary) : null;
  } catch {
    return null;
  }
}

/** Names stand under their directory, each of which is followed by how many there are. */
function isUnchanged(words: readonly string[], numbers: Float64Array): boolean {
  let row = 0;
  for (let at = 0; at < words.length - 1; ) {
    const directory = words[at]!;
    const count = Number(words[at + 1]);
    at += 2;
    for (let i = 0; i < count; i++, row++) {
      if (!isAsItWas(directory + words[at + i]!, numbers, row * COLUMNS)) return false;
    }
    at += count;
  }
  return row * COLUMNS === numbers.length;
}

const QUIET = { throwIfNoEntry: false } as const;

function isAsItWas(path: string, numbers: Float64Array, at: number): boolean {
  const how = numbers[at];
  const stat = how === HOW.lstat ? lstatSync(path, QUIET) : statSync(path, QUIET);
  if (stat === undefined) return how === HOW.missing;
  return (
    how !== HOW.missing &&
    stat.mtimeMs === numbers[at + 1] &&
    stat.ctimeMs === numbers[at + 2] &&
    sizeOf(stat) === numbers[at + 3] &&
    stat.ino === numbers[at + 4]
  );
}

/** The size a directory has by itself says nothing. */
function sizeOf(stat: Stats): number {
  return stat.isDirectory() ? 0 : stat.size;
}

export interface CleanParts {
  readonly key: string;
  readonly summary: unknown;
  readonly looks: Iterable<Looked>;
  /** Looked at now, whatever their age: files that only we write. */
  readonly own: readonly string[];
  /** When looking began: what was stamped since could be stamped alike again. */
  readonly lookedAtMs: number;
}

/** False, and nothing written, if a look is too young to be relied on or is no longer true. */
export function writeClean(file: string, { key, summary, looks, own, lookedAtMs }: CleanParts): boolean {
  const byDirectory = new Map<string, { readonly name: string; readonly numbers: readonly number[] }[]>();
  const add = (path: string, numbers: readonly number[]) => {
    const directory = path === '/' ? '' : join(dirname(path), '/');
    const rows = byDirectory.get(directory);
    const row = { name: path === '/' ? '/' : basename(path), numbers };
    if (rows === undefined) byDirectory.set(directory, [row]);
    else rows.push(row);
  };
  for (const look of looks) {
    const numbers = confirmed(look, lookedAtMs);
    if (numbers === null) return false;
    add(look.path, numbers);
  }
  for (const path of own) add(path, numbersOf(statSync(path, QUIET), HOW.stat));
  const words: string[] = [];
  const numbers: number[] = [];
  for (const [directory, rows] of byDirectory) {
    words.push(directory, String(rows.length));
    for (const row of rows) {
      words.push(row.name);
      numbers.push(...row.numbers);
    }
  }
  const text = Buffer.from(`${words.join('\0')}\0`);
  const header: Header = {
    version: VERSION,
    key,
    summary,
    looks: numbers.length / COLUMNS,
    textBytes: text.length,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomic(
    file,
    Buffer.concat([
      Buffer.from(`${JSON.stringify(header)}\n`),
      text,
      Buffer.from(Float64Array.from(numbers).buffer),
    ]),
  );
  return true;
}

/** The stamp in the numbers that a quick look gives, if it still is the one that the verdict was reached by. */
function confirmed({ path, how, stamp }: Looked, lookedAtMs: number): readonly number[] | null {
  const stat = how === 'lstat' ? lstatSync(path, QUIET) : statSync(path, QUIET);
  if (stat === undefined || stamp === null)
    return stat === undefined && stamp === null ? numbersOf(undefined, HOW.stat) : null;
  const isSame =
    isClose(stat.mtimeMs, stamp.mtimeNs) &&
    isClose(stat.ctimeMs, stamp.ctimeNs) &&
    stat.ino === Number(stamp.ino) &&
    (stat.isDirectory() || stat.size === stamp.size);
  const newest = Math.max(stat.mtimeMs, stat.ctimeMs);
  const tickMs = Number.isInteger(stat.ctimeMs / 1_000) ? 2_000 : 50;
  return isSame && newest < lookedAtMs - tickMs
    ? numbersOf(stat, how === 'lstat' ? HOW.lstat : HOW.stat)
    : null;
}

/** Nanoseconds as a double of milliseconds are off by less than a thousandth. */
function isClose(ms: number, ns: bigint): boolean {
  return Math.abs(ms - Number(ns) / 1e6) < 0.001;
}

function numbersOf(stat: Stats | undefined, how: number): readonly number[] {
  return stat === undefined
    ? [HOW.missing, 0, 0, 0, 0]
    : [how, stat.mtimeMs, stat.ctimeMs, sizeOf(stat), stat.ino];
}
