// When to look at the disk again: soon after a hint, when something has settled, and now and then in any case.

export interface LookTimesOptions {
  readonly scanIntervalMs: number;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** Looks take at most this part of the time, however much happens: a fifth while there are hints, else a half percent. */
const REST_AFTER_HINT = 4;
const REST_OTHERWISE = 200;
/** Where nothing gives hints. */
const POLL_MS = 2_000;

export class LookTimes {
  readonly #options: LookTimesOptions;
  #isHinted = true;
  #endedMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;

  constructor(options: LookTimesOptions) {
    this.#options = options;
  }

  hinted(): void {
    this.#isHinted = true;
  }

  /** From here on hints count for the look after this one. */
  begun(): void {
    this.#isHinted = false;
  }

  ended(tookMs: number): void {
    this.#tookMs = tookMs;
    this.#endedMs = this.#options.nowMs();
  }

  /** `settleMs`: how long until something that was held back has settled. */
  dueInMs({ settleMs, polls }: { readonly settleMs: number | null; readonly polls: boolean }): number {
    const rested = this.#endedMs + REST_AFTER_HINT * this.#tookMs;
    const interval = polls ? POLL_MS : this.#options.scanIntervalMs;
    const reconcile = this.#endedMs + Math.max(interval, REST_OTHERWISE * this.#tookMs);
    const now = this.#options.nowMs();
    const soon = settleMs !== null ? Math.max(rested, now + settleMs) : this.#isHinted ? rested : reconcile;
    return Math.max(0, Math.min(soon, reconcile) - now);
  }
}
