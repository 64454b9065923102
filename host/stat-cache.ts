// Which hash a file had when it was last read, so that a file that did not change since is not read again.
//
// It only ever saves work: losing it, or any part of it, costs reading and nothing else.

import { readFileSync } from 'node:fs';
import type { HashBytes } from '../schema/blake3.ts';
import type { Blake3 } from '../schema/words.ts';
import { writeFileAtomic } from './atomic-write.ts';
import type { Stamp } from './disk.ts';
import {
  decodeTable,
  emptyTable,
  encodeTable,
  grownTable,
  type KeyedTable,
  selectRows,
} from './stat-table.ts';

/** Where an entry is kept until it is forgotten. */
export type Slot = number;
export const NONE: Slot = -1;

export interface StatCacheOptions {
  /** Null for one that lives only as long as its process. */
  readonly path: string | null;
  readonly hash: HashBytes;
  readonly nowMs: () => number;
}

export class StatCache {
  readonly #options: StatCacheOptions;
  #slots: Map<string, Slot> | null = null;
  #table = emptyTable(0);
  #free: Slot[] = [];
  #lastOrder = 0;
  #today = 0;
  #changed = false;

  /** Reads nothing until it is first asked. */
  constructor(options: StatCacheOptions) {
    this.#options = options;
  }

  /** The entry under a key, if the file still is what it was when it was hashed. */
  find(key: string, stamp: Stamp): Slot {
    const slot = this.#loaded().get(key);
    if (slot === undefined) return NONE;
    const { stamps, sizes, seenDays } = this.#table;
    const at = slot * 4;
    const same =
      sizes[slot] === stamp.size &&
      stamps[at] === stamp.mtimeNs &&
      stamps[at + 1] === stamp.ctimeNs &&
      stamps[at + 2] === stamp.ino &&
      stamps[at + 3] === stamp.dev;
    if (!same) return NONE;
    seenDays[slot] = this.#today;
    return slot;
  }

  /** Made anew each time: kept as strings they would take more than all else that is known of a file. */
  hashAt(slot: Slot): Blake3 {
    return `${PREFIX}${this.#table.digests.toString('hex', slot * 32, slot * 32 + 32)}` as Blake3;
  }

  digestAt(slot: Slot): Uint8Array {
    return this.#table.digests.subarray(slot * 32, slot * 32 + 32);
  }

  /** Greater than that of every entry remembered before it; changes whenever the entry does. */
  orderAt(slot: Slot): number {
    return this.#table.orders[slot]!;
  }

  /** `lookedAtMs` is when reading began. NONE if a later edit could carry the same stamp: then nothing is kept. */
  remember(key: string, stamp: Stamp, hash: Blake3, lookedAtMs: number): Slot {
    if (isRacy(stamp, lookedAtMs)) {
      this.forget(key);
      return NONE;
    }
    const slots = this.#loaded();
    const slot = slots.get(key) ?? this.#free.pop() ?? this.#newSlot(slots.size);
    slots.set(key, slot);
    this.#table.stamps.set([stamp.mtimeNs, stamp.ctimeNs, stamp.ino, stamp.dev], slot * 4);
    this.#table.sizes[slot] = stamp.size;
    this.#table.orders[slot] = ++this.#lastOrder;
    this.#table.seenDays[slot] = this.#today;
    this.#table.digests.write(hash.slice(PREFIX.length), slot * 32, 'hex');
    this.#changed = true;
    return slot;
  }

  forget(key: string): void {
    const slots = this.#loaded();
    const slot = slots.get(key);
    if (slot === undefined) return;
    slots.delete(key);
    this.#free.push(slot);
    this.#changed = true;
  }

  get size(): number {
    return this.#loaded().size;
  }

  /** Writes nothing if nothing changed. */
  save(): void {
    const { path, hash, nowMs } = this.#options;
    if (!this.#changed || path === null) return;
    this.#today = dayOf(nowMs());
    this.#dropUnseen();
    const keys = [...this.#loaded().keys()];
    const rows = selectRows(this.#table, [...this.#loaded().values()]);
    writeFileAtomic(path, encodeTable(keys, rows, hash));
    this.#changed = false;
  }

  #loaded(): Map<string, Slot> {
    if (this.#slots !== null) return this.#slots;
    const { keys, table } = readTable(this.#options);
    this.#table = table;
    this.#today = dayOf(this.#options.nowMs());
    this.#slots = new Map();
    for (let slot = 0; slot < keys.length; slot++) {
      this.#slots.set(keys[slot]!, slot);
      this.#lastOrder = Math.max(this.#lastOrder, table.orders[slot]!);
    }
    return this.#slots;
  }

  /** With no slot free, those in use are the first ones. */
  #newSlot(inUse: number): Slot {
    if (inUse === this.#table.sizes.length) this.#table = grownTable(this.#table, Math.max(64, inUse * 2));
    return inUse;
  }

  /** Files come and go, and nobody says goodbye to those inside a directory. */
  #dropUnseen(): void {
    for (const [key, slot] of this.#loaded()) {
      if (this.#table.seenDays[slot]! < this.#today - DAYS_KEPT) this.forget(key);
    }
  }
}

const PREFIX = 'blake3:';
const DAYS_KEPT = 30;

function dayOf(nowMs: number): number {
  return Math.floor(nowMs / 86_400_000);
}

/** A cache that cannot be read, for whatever reason, is an empty one. */
function readTable({ path, hash }: StatCacheOptions): KeyedTable {
  const empty = { keys: [], table: emptyTable(0) };
  if (path === null) return empty;
  try {
    return decodeTable(readFileSync(path), hash) ?? empty;
  } catch {
    return empty;
  }
}

/**
 * Stamps come from a clock that moves in ticks, up to 10 ms long on Linux; whole seconds on some file systems,
 * two on FAT. An edit right after the look can therefore carry the stamp that was already there.
 */
function isRacy({ mtimeNs, ctimeNs }: Stamp, lookedAtMs: number): boolean {
  const newest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const tickMs = ctimeNs % 1_000_000_000n === 0n ? 2_000 : 50;
  return newest >= BigInt(Math.floor(lookedAtMs - tickMs)) * 1_000_000n;
}
