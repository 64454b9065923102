// What a token looks like, and the hash under which it is known.

import type { HashBytes } from '../../schema/blake3.ts';

/** So that a scanner for leaked secrets, or a person, can tell what it is. */
const PREFIX = 'sluice_';
const BYTES = 32;
const FORM = /^sluice_[A-Za-z0-9_-]{43}$/;

/** 256 random bits; whoever has it can use it, so it is shown once and stored nowhere. */
export function makeToken(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + base64url(randomBytes(BYTES));
}

export function isToken(text: string): boolean {
  return FORM.test(text);
}

/** A slow hash protects what people choose; 256 random bits cannot be guessed at any speed. */
export function hashToken(hash: HashBytes, token: string): Uint8Array {
  return hash(new TextEncoder().encode(token));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
