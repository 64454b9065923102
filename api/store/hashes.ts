// Hashes are `blake3:…` in messages and 32 bytes in tables.

import type { Blake3 } from '../../schema/words.ts';

export function textHash(hex: string): Blake3 {
  return `blake3:${hex}` as Blake3;
}

export function hashBlob(hash: string): Uint8Array {
  const hex = hash.slice('blake3:'.length);
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16));
}

/** SQL for the text of a blob column, and for the blob of a text in JSON. */
export const asText = (column: string) => `'blake3:' || lower(hex(${column}))`;
export const asTextOrNull = (column: string) => `CASE WHEN ${column} IS NOT NULL THEN ${asText(column)} END`;
export const asBlob = (text: string) => `unhex(substr(${text}, 8))`;
