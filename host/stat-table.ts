// The stat cache as columns, in memory and on disk alike, so that loading it is little more than reading it.
//
// The file: header (magic, version, rows, bytes of keys) · columns · length of each key · keys · checksum.
// Measured: 100,000 rows load in a third of the time that 100,000 objects take.

import type { HashBytes } from '../schema/blake3.ts';

/** One value per row, except where a column says otherwise. */
export interface StatTable {
  /** Four per row: mtime, ctime, inode, device. */
  readonly stamps: BigInt64Array;
  readonly sizes: Float64Array;
  readonly orders: Float64Array;
  readonly seenDays: Float64Array;
  /** 32 bytes per row. */
  readonly digests: Buffer;
}

export interface KeyedTable {
  readonly keys: readonly string[];
  readonly table: StatTable;
}

export function emptyTable(rows: number): StatTable {
  return {
    stamps: new BigInt64Array(rows * 4),
    sizes: new Float64Array(rows),
    orders: new Float64Array(rows),
    seenDays: new Float64Array(rows),
    digests: Buffer.alloc(rows * 32),
  };
}

export function grownTable(table: StatTable, rows: number): StatTable {
  const grown = emptyTable(rows);
  grown.stamps.set(table.stamps);
  grown.sizes.set(table.sizes);
  grown.orders.set(table.orders);
  grown.seenDays.set(table.seenDays);
  grown.digests.set(table.digests);
  return grown;
}

export function selectRows(table: StatTable, rows: readonly number[]): StatTable {
  const selected = emptyTable(rows.length);
  for (const [to, from] of rows.entries()) {
    selected.stamps.set(table.stamps.subarray(from * 4, from * 4 + 4), to * 4);
    selected.sizes[to] = table.sizes[from]!;
    selected.orders[to] = table.orders[from]!;
    selected.seenDays[to] = table.seenDays[from]!;
    table.digests.copy(selected.digests, to * 32, from * 32, from * 32 + 32);
  }
  return selected;
}

export function encodeTable(keys: readonly string[], table: StatTable, hash: HashBytes): Uint8Array {
  const keyBytes = Buffer.from(keys.join(''));
  const header = Uint32Array.of(MAGIC, VERSION, keys.length, keyBytes.length);
  const lengths = Uint32Array.from(keys, (key) => Buffer.byteLength(key));
  const { stamps, sizes, orders, seenDays, digests } = table;
  const columns = [header, stamps, sizes, orders, seenDays, digests, lengths].map(bytesOf);
  const body = Buffer.concat([...columns, keyBytes]);
  return Buffer.concat([body, hash(body)]);
}

/** Null unless the bytes are what `encodeTable` made, in this version and on a machine of this byte order. */
export function decodeTable(bytes: Buffer, hash: HashBytes): KeyedTable | null {
  if (bytes.length < HEADER + CHECKSUM) return null;
  const body = bytes.subarray(0, bytes.length - CHECKSUM);
  const [magic, version, rows, keyBytes] = new Uint32Array(copyOf(body, 0, HEADER));
  if (magic !== MAGIC || version !== VERSION) return null;
  if (body.length !== HEADER + rows! * ROW + keyBytes!) return null;
  if (!bytes.subarray(body.length).equals(hash(body))) return null;
  return readColumns(body, rows!);
}

/** "SLST" where the low byte comes first. */
const MAGIC = 0x54534c53;
/** To be raised with any change of the layout, or of what is hashed and how. */
const VERSION = 1;
const HEADER = 16;
const CHECKSUM = 32;
const ROW = 4 * 8 + 3 * 8 + 32 + 4;

function readColumns(body: Buffer, rows: number): KeyedTable {
  let at = HEADER;
  const next = (rowBytes: number) => {
    const start = at;
    at += rows * rowBytes;
    return copyOf(body, start, at);
  };
  const table = {
    stamps: new BigInt64Array(next(32)),
    sizes: new Float64Array(next(8)),
    orders: new Float64Array(next(8)),
    seenDays: new Float64Array(next(8)),
    digests: Buffer.from(next(32)),
  };
  const lengths = new Uint32Array(next(4));
  return { keys: readKeys(body.subarray(at), lengths), table };
}

function readKeys(bytes: Buffer, lengths: Uint32Array): string[] {
  const keys: string[] = [];
  let at = 0;
  for (const length of lengths) {
    keys.push(bytes.toString('utf8', at, at + length));
    at += length;
  }
  return keys;
}

/** Copied, because a view of wider numbers must start at a multiple of their width. */
function copyOf(bytes: Buffer, start: number, end: number): ArrayBuffer {
  return new Uint8Array(bytes.subarray(start, end)).buffer;
}

function bytesOf(view: ArrayBufferView): Buffer {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
}
