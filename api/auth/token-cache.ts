// What was lately read about tokens, by hash, in bounded memory.

import type { TokenRow } from '../../schema/tables/tokens.ts';

/** How long a revocation in another process may go unnoticed (SEMANTICS 25). */
export const TOKEN_CACHE_MS = 30_000;
const MAX_FOUND = 10_000;
/** Kept apart from the found ones: made-up tokens push out only each other. */
const MAX_UNKNOWN = 1_000;

export type Lookup = { readonly kind: 'found'; readonly row: TokenRow } | { readonly kind: 'unknown' };

interface Entry<Value> {
  readonly value: Value;
  readonly readAtMs: number;
}

export class TokenCache {
  readonly #nowMs: () => number;
  readonly #found = new Map<string, Entry<TokenRow>>();
  readonly #unknown = new Map<string, Entry<null>>();
  #generation = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get(hash: string): Lookup | undefined {
    const found = this.#found.get(hash);
    if (found !== undefined) return this.#isFresh(found) ? { kind: 'found', row: found.value } : undefined;
    const unknown = this.#unknown.get(hash);
    return unknown !== undefined && this.#isFresh(unknown) ? { kind: 'unknown' } : undefined;
  }

  /** True for a token that existed when last read, however long ago that was. */
  hasSeen(hash: string): boolean {
    return this.#found.has(hash);
  }

  /** What a read that begins now must hand to `put`. */
  get generation(): number {
    return this.#generation;
  }

  /** Ignored if `clear` came in between: what was read may be older than the reason to clear. */
  put(hash: string, row: TokenRow | undefined, generation: number): void {
    if (generation !== this.#generation) return;
    this.#found.delete(hash);
    this.#unknown.delete(hash);
    const readAtMs = this.#nowMs();
    if (row === undefined) keep(this.#unknown, hash, { value: null, readAtMs }, MAX_UNKNOWN);
    else keep(this.#found, hash, { value: row, readAtMs }, MAX_FOUND);
  }

  clear(): void {
    this.#generation += 1;
    this.#found.clear();
    this.#unknown.clear();
  }

  get size(): number {
    return this.#found.size + this.#unknown.size;
  }

  #isFresh({ readAtMs }: Entry<unknown>): boolean {
    const ageMs = this.#nowMs() - readAtMs;
    // A clock that was set back must not make anything last longer.
    return ageMs >= 0 && ageMs < TOKEN_CACHE_MS;
  }
}

/** A Map keeps the order of insertion, so its first key is the oldest. */
function keep<Value>(entries: Map<string, Value>, key: string, value: Value, limit: number): void {
  if (entries.size >= limit) entries.delete(entries.keys().next().value!);
  entries.set(key, value);
}
