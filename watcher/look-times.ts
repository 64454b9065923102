// When to look at the disk again: at what something happened to soon after it, at everything now and then.

export interface LookTimesOptions {
  readonly scanIntervalMs: number;
  /** Monotonic. */
  readonly nowMs: () => number;
}

export type LookKind = 'hinted' | 'whole';

/** Looks take at most this part of the time, however much happens: a fifth while there are hints, else a half percent. */
const REST_AFTER_HINT = 4;
const REST_OTHERWISE = 200;
/** Where nothing gives hints. */
const POLL_MS = 2_000;
/** From here on, and where it is not known what happened, one look at everything is cheaper than many at one path. */
export const MOST_HINTS = 2_000;
/** What could not be told is tried again. */
const RETRY_MS = 1_000;
const MOST_RETRY_MS = 30_000;

export interface Hints {
  /** How long until the next is to be looked at; null if there is none. */
  readonly waitMs: number | null;
  readonly count: number;
  readonly polls: boolean;
}

export class LookTimes {
  readonly #options: LookTimesOptions;
  #isWholeAsked = true;
  #whole = { endedMs: Number.NEGATIVE_INFINITY, tookMs: 0 };
  #restedMs = Number.NEGATIVE_INFINITY;
  #retryMs = 0;

  constructor(options: LookTimesOptions) {
    this.#options = options;
  }

  askWhole(): void {
    this.#isWholeAsked = true;
  }

  /** From here on hints count for the look after this one. */
  begun(kind: LookKind): void {
    if (kind === 'whole') this.#isWholeAsked = false;
  }

  ended(kind: LookKind, tookMs: number): void {
    const endedMs = this.#options.nowMs();
    this.#retryMs = 0;
    if (kind === 'whole') this.#whole = { endedMs, tookMs };
    // A path that something happened to need not wait because everything takes long to look at.
    this.#restedMs = kind === 'whole' ? endedMs : endedMs + REST_AFTER_HINT * tookMs;
  }

  /** Nobody heard what was seen: everything is looked at again, ever more patiently. */
  failed(): void {
    this.#isWholeAsked = true;
    this.#retryMs = Math.min(MOST_RETRY_MS, Math.max(RETRY_MS, 2 * this.#retryMs));
    this.#restedMs = this.#options.nowMs() + this.#retryMs;
  }

  dueInMs(hints: Hints): number {
    const now = this.#options.nowMs();
    const whole = this.#wholeDueMs(hints);
    const hinted = hints.waitMs === null ? whole : Math.max(this.#restedMs, now + hints.waitMs);
    return Math.max(0, Math.min(whole, hinted) - now);
  }

  /** What the look that is due now is to be. */
  kindNow(hints: Hints): LookKind {
    return this.#wholeDueMs(hints) <= this.#options.nowMs() || hints.count > MOST_HINTS ? 'whole' : 'hinted';
  }

  #wholeDueMs({ polls }: Hints): number {
    const { endedMs, tookMs } = this.#whole;
    if (this.#isWholeAsked) return Math.max(this.#restedMs, endedMs + REST_AFTER_HINT * tookMs);
    const interval = polls ? Math.min(POLL_MS, this.#options.scanIntervalMs) : this.#options.scanIntervalMs;
    return endedMs + Math.max(interval, REST_OTHERWISE * tookMs);
  }
}
