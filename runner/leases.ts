// The leases that this runner holds, and until when by its own clocks: the control plane may be away when one ends, and
// a process that was stopped for a while must not go on as if nothing had happened.
//
//   taken ──renewed──▶ held ──no word for too long──▶ asked once more ──▶ kept, or lost
//                        └──the control plane says so──────────────────▶ lost

/** Two clocks: the one that is never set stands still while the machine sleeps, the other may be set. */
export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

export function momentNow(): Moment {
  return { steadyMs: performance.now(), wallMs: Date.now() };
}

export interface LeaseContext {
  readonly leaseMs: number;
  readonly now: () => Moment;
  /** Those that are still ours; throws if nobody answers. */
  readonly renew: (tokens: readonly number[]) => Promise<ReadonlySet<number>>;
  /** Whatever runs for these must be ended. */
  readonly lost: (tokens: readonly number[]) => void;
}

/** So many heartbeats in the time of a lease. One may be late: what ends before the next is due counts as ended. */
const BEATS = 5;

export class Leases {
  readonly #context: LeaseContext;
  /** When the request was sent that got it: the control plane counts from later. */
  readonly #since = new Map<number, Moment>();
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> | null = null;

  constructor(context: LeaseContext) {
    this.#context = context;
    this.#timer = setInterval(() => void this.renew(), context.leaseMs / BEATS);
    this.#timer.unref();
  }

  take(tokens: readonly number[], sentAt: Moment): void {
    for (const token of tokens) this.#since.set(token, sentAt);
  }

  give(token: number): void {
    this.#since.delete(token);
  }

  tokens(): number[] {
    return [...this.#since.keys()];
  }

  holds(token: number): boolean {
    const since = this.#since.get(token);
    return since !== undefined && this.#isFresh(since);
  }

  /** To be asked right before something is done that only the holder may do. */
  async holdsAll(tokens: readonly number[]): Promise<boolean> {
    if (tokens.every((token) => this.holds(token))) return true;
    if (tokens.some((token) => !this.#since.has(token))) return false;
    await this.renew();
    return tokens.every((token) => this.holds(token));
  }

  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    const tokens = this.tokens();
    if (tokens.length === 0) return;
    const sentAt = this.#context.now();
    try {
      const kept = await this.#context.renew(tokens);
      for (const token of tokens)
        if (kept.has(token) && this.#since.has(token)) this.#since.set(token, sentAt);
      this.#lose(tokens.filter((token) => !kept.has(token)));
    } catch {
      // Nobody answered; the next heartbeat asks again, and until then our own clocks decide.
      this.#lose(tokens.filter((token) => !this.holds(token)));
    }
  }

  #lose(tokens: readonly number[]): void {
    const lost = tokens.filter((token) => this.#since.delete(token));
    if (lost.length > 0) this.#context.lost(lost);
  }

  #isFresh(since: Moment): boolean {
    const { leaseMs, now } = this.#context;
    const { steadyMs, wallMs } = now();
    const longestMs = leaseMs - leaseMs / BEATS;
    return steadyMs - since.steadyMs < longestMs && wallMs - since.wallMs < longestMs;
  }
}
