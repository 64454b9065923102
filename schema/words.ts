// The branded words and the few closed vocabularies that every other file speaks in.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** `blake3:` followed by 64 lower-case hex digits. */
export type Blake3 = Branded<'Blake3'>;
export type StageId = Branded<'StageId'>;
/** The values of a stage's variables joined by `/`; empty for a stage that has none. */
export type EntityId = Branded<'EntityId'>;
export type TargetName = Branded<'TargetName'>;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The machine the workflow's own directory is on, when a file names no other. */
export const LOCAL = 'local' as TargetName;

const BLAKE3 = /^blake3:[0-9a-f]{64}$/;

export function isBlake3(text: string): text is Blake3 {
  return BLAKE3.test(text);
}

export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
