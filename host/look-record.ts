// Everything that a verdict was reached by looking at: each path that was asked about, with the stamp it had.
//
// If none of these stamps has changed, looking again would see the same: a directory's stamp moves when a name in it
// comes or goes, a file's when its content does. On which device a place is says nothing of what is in it, and is not kept.

import type { HashBytes } from '../schema/blake3.ts';
import { listingDigest } from './content-digest.ts';
import type { Disk, Stamp } from './disk.ts';

export interface Looked {
  readonly path: string;
  /** Whether a link was looked at itself instead of what it leads to. */
  readonly how: 'stat' | 'lstat';
  /** Null if nothing was there. */
  readonly stamp: Stamp | null;
  /** Of a directory whose names were asked for. */
  readonly listing?: Uint8Array;
}

export class LookRecord {
  readonly disk: Disk;
  readonly #seen = new Map<string, Looked>();
  /** A path was seen in two states, or more was done than looking: then nothing can be said about the whole. */
  #isTorn = false;

  constructor(disk: Disk, hash: HashBytes) {
    this.disk = {
      ...disk,
      stat: (path) => this.#note(path, 'stat', disk.stat(path)),
      lstat: (path) => this.#note(path, 'lstat', disk.lstat(path)),
      list: (path) => {
        const stamp = disk.stat(path);
        const entries = disk.list(path);
        this.#note(path, 'stat', stamp, this.#isTorn ? undefined : listingDigest(entries, hash));
        return entries;
      },
      listBytes: (path) => {
        this.#note(path, 'stat', disk.stat(path));
        return disk.listBytes(path);
      },
    };
  }

  get isTorn(): boolean {
    return this.#isTorn;
  }

  /** What is done from here on is no verdict that could be kept. */
  stop(): void {
    this.#isTorn = true;
    this.#seen.clear();
  }

  all(): IterableIterator<Looked> {
    return this.#seen.values();
  }

  #note(path: string, how: Looked['how'], stamp: Stamp | null, listed?: Uint8Array): Stamp | null {
    if (this.#isTorn) return stamp;
    const key = how === 'stat' ? path : `${path}\0`;
    const before = this.#seen.get(key);
    if (before !== undefined && !isSame(before.stamp, stamp)) this.#isTorn = true;
    const listing = listed ?? before?.listing;
    if (before?.listing !== undefined && Buffer.compare(before.listing, listing!) !== 0) this.#isTorn = true;
    this.#seen.set(key, { path, how, stamp, ...(listing === undefined ? {} : { listing }) });
    return stamp;
  }
}

function isSame(a: Stamp | null, b: Stamp | null): boolean {
  if (a === null || b === null) return a === b;
  return a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino && a.size === b.size;
}
