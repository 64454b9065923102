// How an entity is called as a file: one flat name for each, that no other entity has and that leads nowhere else.

import { asBlake3, type HashBytes } from '../../schema/blake3.ts';

/** Most file systems take 255 bytes; what stands beside a name while it is written takes some of them. */
const LONGEST_NAME = 200;

/**
 * Percent-encoded, so `hn/1` is `hn%2F1`. No encoding makes a bare `%`, so that stands for what it cannot express: the
 * entity of stages without variables, and the rest of an id that is too long.
 */
export function fileNameOf(entity: string, hash: HashBytes): string {
  if (entity === '') return '%.json';
  const encoded = encodeURIComponent(entity).replace(/^\./, '%2E');
  if (encoded.length <= LONGEST_NAME) return `${encoded}.json`;
  const digest = asBlake3(hash(new TextEncoder().encode(entity))).slice(-32);
  const start = encoded.slice(0, LONGEST_NAME - digest.length).replace(/%.?$/, '');
  return `${start}%~${digest}.json`;
}
