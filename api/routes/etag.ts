// Tells an asker that nothing changed since its last look.

import { asBlake3, type HashBytes } from '../../schema/blake3.ts';

export function tagOf(hash: HashBytes, body: string): string {
  return `"${asBlake3(hash(new TextEncoder().encode(body))).slice('blake3:'.length, 'blake3:'.length + 32)}"`;
}

/** Of If-None-Match; weak tags count as the strong ones they were made of. */
export function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
