// Remembers a verdict of "nothing to do" together with every look it was reached by (SEMANTICS 22).
//
//   every look is as it was, or only its stamp is other ──▶ clean
//   nothing but the content of files that were told ──────▶ changed: the verdict holds for all the rest
//   anything else ────────────────────────────────────────▶ unknown
//
// It is checked before anything else is loaded, so it may import nothing heavy. It caches the verdict and is never a
// second one: any doubt, and the long way is taken.

import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { type Blake3Implementation, loadBlake3 } from './blake3.ts';
import {
  type CleanFile,
  type CleanRow,
  COLUMNS,
  DIGEST_BYTES,
  FLAG,
  readCleanFile,
  writeCleanFile,
} from './clean-file.ts';
import { contentDigest, listingDigest } from './content-digest.ts';
import type { Looked } from './look-record.ts';

export type Checked<Summary> =
  | { readonly kind: 'clean'; readonly summary: Summary }
  | { readonly kind: 'changed'; readonly summary: Summary; readonly snapshot: CleanSnapshot }
  | { readonly kind: 'unknown' };

export interface CheckOptions {
  readonly nowMs?: () => number;
  /** Looks at the rest while something else is done, and tells the rows that are not as they were. */
  readonly lookAtRest?: (from: number) => Promise<readonly number[]>;
  /** From this many looks on it is worth its price. */
  readonly large?: number;
}

const UNKNOWN = { kind: 'unknown' } as const;
/** A thread takes 40 ms to come up, and that is 20,000 looks. */
const LARGE = 20_000;

export function checkClean<Summary>(file: string, key: string, options: CheckOptions = {}): Checked<Summary> {
  const { nowMs = Date.now, lookAtRest, large = LARGE } = options;
  const lookedAtMs = nowMs();
  try {
    const kept = readCleanFile(file, key);
    if (kept === null) return UNKNOWN;
    const check = new Check(kept);
    const summary = kept.summary as Summary;
    let rest: Promise<readonly number[]> | null = null;
    const holds = kept.each(0, (path, row) => {
      if (rest !== null) return true;
      if (!check.look(path, row)) return false;
      if (check.changed.length > 0 && lookAtRest !== undefined && kept.looks - row > large)
        rest = lookAtRest(row + 1);
      return true;
    });
    if (!holds) return UNKNOWN;
    if (check.changed.length > 0)
      return { kind: 'changed', summary, snapshot: new CleanSnapshot(kept, check, rest) };
    check.restamp(lookedAtMs);
    return { kind: 'clean', summary };
  } catch {
    return UNKNOWN;
  }
}

/** For another thread: the rows of looks that are not as they were; why not is for the first one to find out. */
export function differingRows(file: string, key: string, from: number): readonly number[] {
  const rows: number[] = [];
  const kept = readCleanFile(file, key)!;
  kept.each(from, (path, row) => {
    const stat = statOf(path, kept, row);
    if (!isAsItWas(stat, kept, row)) rows.push(row);
    return true;
  });
  return rows;
}

const QUIET = { throwIfNoEntry: false } as const;

function statOf(path: string, { numbers }: CleanFile, row: number): Stats | undefined {
  return (numbers[row * COLUMNS]! & FLAG.lstat) === 0 ? statSync(path, QUIET) : lstatSync(path, QUIET);
}

function isAsItWas(stat: Stats | undefined, { numbers }: CleanFile, row: number): boolean {
  const at = row * COLUMNS;
  const flags = numbers[at]!;
  if ((flags & FLAG.empty) !== 0) return stat === undefined || stat.size === 0;
  if (stat === undefined) return flags === 0;
  return (
    flags !== 0 &&
    stat.mtimeMs === numbers[at + 1] &&
    stat.ctimeMs === numbers[at + 2] &&
    sizeOf(stat) === numbers[at + 3] &&
    stat.ino === numbers[at + 4]
  );
}

class Check {
  readonly changed: string[] = [];
  readonly own: OwnRow[] = [];
  readonly #kept: CleanFile;
  readonly #touched: { readonly row: number; readonly stat: Stats }[] = [];
  #blake3: Blake3Implementation | null = null;

  constructor(kept: CleanFile) {
    this.#kept = kept;
  }

  /** False if the verdict cannot be held up. */
  look(path: string, row: number): boolean {
    if ((this.#kept.numbers[row * COLUMNS]! & FLAG.own) !== 0) this.own.push({ path, row });
    const stat = statOf(path, this.#kept, row);
    return isAsItWas(stat, this.#kept, row) || (stat !== undefined && this.#lookInside(path, row, stat));
  }

  #lookInside(path: string, row: number, stat: Stats): boolean {
    const digest = digestAt(this.#kept, row);
    if (digest === null) return false;
    const flags = this.#kept.numbers[row * COLUMNS]!;
    if (this.#isSame(path, digest, { flags, stat })) {
      this.#touched.push({ row, stat });
      return true;
    }
    if ((flags & FLAG.told) === 0 || !stat.isFile()) return false;
    this.changed.push(path);
    return true;
  }

  #isSame(path: string, digest: Uint8Array, { flags, stat }: { flags: number; stat: Stats }): boolean {
    this.#blake3 ??= loadBlake3();
    if ((flags & FLAG.listed) !== 0) {
      if (!stat.isDirectory()) return false;
      return isEqual(listingDigest(readdirSync(path, { withFileTypes: true }), this.#blake3.hash), digest);
    }
    return stat.isFile() && isEqual(contentDigest(path, stat.size, this.#blake3), digest);
  }

  /** What is old enough to be relied on need not be read again. */
  restamp(lookedAtMs: number): void {
    const settled = this.#touched.filter(({ stat }) => isOld(stat, lookedAtMs));
    if (settled.length === 0) return;
    for (const { row, stat } of settled) setStamp(this.#kept, row, stat);
    this.#kept.writeRows(settled.map(({ row }) => row));
  }
}

interface OwnRow {
  readonly path: string;
  readonly row: number;
}

/** One of which some files had changed, and are accounted for by now. */
export class CleanSnapshot {
  readonly #kept: CleanFile;
  readonly #own: readonly OwnRow[];
  readonly #check: Check;
  readonly #rest: Promise<readonly number[]> | null;

  constructor(kept: CleanFile, check: Check, rest: Promise<readonly number[]> | null) {
    this.#kept = kept;
    this.#own = [...check.own];
    this.#check = check;
    this.#rest = rest;
    // Nobody may come to ask.
    rest?.catch(() => {});
  }

  /** All files that have other content; null if the rest turned out to be other than by the content of files. */
  async changed(): Promise<readonly string[] | null> {
    if (this.#rest === null) return this.#check.changed;
    try {
      const rows = new Set(await this.#rest);
      const holds = this.#kept.each(0, (path, row) => !rows.has(row) || this.#check.look(path, row));
      return holds ? this.#check.changed : null;
    } catch {
      return null;
    }
  }

  /** Whether the files that only we write are still those that the verdict was reached by. */
  isCurrent(): boolean {
    return this.#own.length > 0 && this.#own.every(({ path, row }) => new Check(this.#kept).look(path, row));
  }

  /** Whether this is the content that a file had. */
  vouchesFor(path: string, digest: Uint8Array): boolean {
    const rows = this.#kept.rowsOf([path]).get(path) ?? [];
    return rows.some((row) => isEqual(digestAt(this.#kept, row) ?? NONE, digest));
  }

  /**
   * Keeps a new verdict of nothing to do that differs from the old one by the content of these files alone. False, and
   * nothing kept, if one of them is not among its looks.
   */
  renew(contents: ReadonlyMap<string, Uint8Array>): boolean {
    const found = this.#kept.rowsOf(contents.keys());
    if (found.size < contents.size) return false;
    const patched = [...found].flatMap(([path, rows]) =>
      rows.map((row) => ({ row, digest: contents.get(path)! })),
    );
    if (!patched.every(({ row, digest }) => this.#replace(row, digest))) return false;
    this.#kept.writeRows(patched.map(({ row }) => row));
    for (const { path, row } of this.#own) {
      const stat = statSync(path, QUIET);
      if (stat !== undefined) setStamp(this.#kept, row, stat);
    }
    // Last: until these are right, the file says nothing.
    this.#kept.writeRows(this.#own.map(({ row }) => row));
    return true;
  }

  /** No stamp is like NaN, so the content is compared the next time, and the stamp taken then. */
  #replace(row: number, digest: Uint8Array): boolean {
    if (digestAt(this.#kept, row) === null) return false;
    this.#kept.digests.set(digest, row * DIGEST_BYTES);
    this.#kept.numbers[row * COLUMNS + 1] = Number.NaN;
    return true;
  }
}

function digestAt({ digests }: CleanFile, row: number): Uint8Array | null {
  const digest = digests.subarray(row * DIGEST_BYTES, (row + 1) * DIGEST_BYTES);
  return isEqual(digest, NO_DIGEST) ? null : digest;
}

const NONE = new Uint8Array(0);
const NO_DIGEST = new Uint8Array(DIGEST_BYTES);

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function setStamp({ numbers }: CleanFile, row: number, stat: Stats): void {
  numbers.set([stat.mtimeMs, stat.ctimeMs, sizeOf(stat), stat.ino], row * COLUMNS + 1);
}

/** The size a directory has by itself says nothing. */
function sizeOf(stat: Stats): number {
  return stat.isDirectory() ? 0 : stat.size;
}

/** What was stamped just before a look could be stamped alike again. */
function isOld(stat: Stats, lookedAtMs: number): boolean {
  const newest = Math.max(stat.mtimeMs, stat.ctimeMs);
  const tickMs = Number.isInteger(stat.ctimeMs / 1_000) ? 2_000 : 50;
  return newest < lookedAtMs - tickMs;
}

export interface CleanLook extends Looked {
  readonly digest: Uint8Array | null;
  readonly isTold: boolean;
}

export interface CleanParts {
  readonly key: string;
  readonly summary: unknown;
  readonly looks: Iterable<CleanLook>;
  /** Looked at now, whatever their age: files that only we write. */
  readonly own: readonly string[];
  /** Ours as well, and with nothing in them: where something is, somebody is at work or was killed. */
  readonly empty: readonly string[];
  /** When looking began. */
  readonly lookedAtMs: number;
}

/** False, and nothing written, if a look is too young to be relied on or is no longer true. */
export function writeClean(file: string, parts: CleanParts): boolean {
  const { key, summary, looks, own, empty, lookedAtMs } = parts;
  const rows: CleanRow[] = [];
  // First, for these are asked for again before anything is done.
  for (const path of own)
    rows.push({ path, numbers: numbersOf(statSync(path), FLAG.stat | FLAG.own), digest: null });
  const nothing = [FLAG.own | FLAG.empty, 0, 0, 0, 0];
  for (const path of empty) rows.push({ path, numbers: nothing, digest: null });
  for (const look of looks) {
    const numbers = confirmed(look, lookedAtMs);
    if (numbers === null) return false;
    rows.push({ path: look.path, numbers, digest: look.digest });
  }
  writeCleanFile(file, key, summary, rows);
  return true;
}

const NOTHING: readonly number[] = [0, 0, 0, 0, 0];

/** The stamp in the numbers that a quick look gives, if it still is the one that the verdict was reached by. */
function confirmed(look: CleanLook, lookedAtMs: number): readonly number[] | null {
  const { path, how, stamp } = look;
  const stat = how === 'lstat' ? lstatSync(path, QUIET) : statSync(path, QUIET);
  if (stat === undefined || stamp === null) return stat === undefined && stamp === null ? NOTHING : null;
  const isSame =
    isClose(stat.mtimeMs, stamp.mtimeNs) &&
    isClose(stat.ctimeMs, stamp.ctimeNs) &&
    stat.ino === Number(stamp.ino) &&
    (stat.isDirectory() || stat.size === stamp.size);
  return isSame && isOld(stat, lookedAtMs) ? numbersOf(stat, flagsOf(look)) : null;
}

function flagsOf({ how, listing, isTold }: CleanLook): number {
  const told = isTold ? FLAG.told : 0;
  const listed = listing === undefined ? 0 : FLAG.listed;
  return (how === 'lstat' ? FLAG.lstat : FLAG.stat) | told | listed;
}

/** Nanoseconds as a double of milliseconds are off by less than a thousandth. */
function isClose(ms: number, ns: bigint): boolean {
  return Math.abs(ms - Number(ns) / 1e6) < 0.001;
}

function numbersOf(stat: Stats, flags: number): readonly number[] {
  return [flags, stat.mtimeMs, stat.ctimeMs, sizeOf(stat), stat.ino];
}
