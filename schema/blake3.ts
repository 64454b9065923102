// The one hash function, as the pure code sees it: somebody hands it in, nobody here loads it.

import { canonicalBytes } from './canonical.ts';
import type { Blake3, Json } from './words.ts';

/** BLAKE3, 32 bytes. Native in Node, wasm as the fallback, a compiled wasm module in workerd. */
export type HashBytes = (bytes: Uint8Array) => Uint8Array;

export function hashValue(hash: HashBytes, domain: string, value: Json): Blake3 {
  return asBlake3(hash(canonicalBytes(domain, value)));
}

export function asBlake3(digest: Uint8Array): Blake3 {
  let hex = 'blake3:';
  for (const byte of digest) hex += HEX[byte];
  return hex as Blake3;
}

/** Enough of a hash for a person to tell two apart. */
export function shortHash(hash: Blake3): string {
  return hash.slice(0, 'blake3:'.length + 8);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
