// A bucket of permissions per caller that fills with time: short bursts pass, a steady flood does not.

import { Problem } from '../http/problem.ts';
import type { RateSettings } from '../parts.ts';

export const DEFAULT_RATE: RateSettings = { perSecond: 2_000, burst: 20_000 };

/** Beyond this the caller that was quiet the longest is forgotten, which costs it nothing but its debt. */
const MAX_CALLERS = 10_000;

interface Bucket {
  permits: number;
  atMs: number;
}

export class RateLimit {
  readonly #settings: RateSettings;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(settings: RateSettings, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
  }

  /** Throws 429 if nothing is left for this caller. */
  take(caller: string): void {
    this.check(caller).permits -= 1;
  }

  /** Throws 429 if `take` would, and takes nothing. */
  check(caller: string): Bucket {
    const bucket = this.#fill(caller);
    if (bucket.permits >= 1) return bucket;
    throw this.#tooMany(bucket);
  }

  get size(): number {
    return this.#buckets.size;
  }

  #fill(caller: string): Bucket {
    const { perSecond, burst } = this.#settings;
    const nowMs = this.#nowMs();
    const bucket = this.#buckets.get(caller) ?? { permits: burst, atMs: nowMs };
    // A clock that was set back gives nothing, and takes nothing away.
    const gained = (Math.max(0, nowMs - bucket.atMs) * perSecond) / 1_000;
    bucket.permits = Math.min(burst, bucket.permits + gained);
    bucket.atMs = nowMs;
    this.#keep(caller, bucket);
    return bucket;
  }

  /** Inserted anew, so that the first key is the caller that was quiet the longest. */
  #keep(caller: string, bucket: Bucket): void {
    this.#buckets.delete(caller);
    if (this.#buckets.size >= MAX_CALLERS) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(caller, bucket);
  }

  #tooMany({ permits }: Bucket): Problem {
    const { perSecond } = this.#settings;
    const waitS = Math.max(1, Math.ceil((1 - permits) / perSecond));
    return new Problem({
      status: 429,
      code: 'too-many-requests',
      message: `more than ${perSecond} requests per second`,
      hint: `wait ${waitS} s, then ask for more in one request instead of often`,
      extra: { retry_after_seconds: waitS },
      headers: { 'Retry-After': String(waitS) },
    });
  }
}
