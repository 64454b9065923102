// A fetch for programs that go on for months: it asks again until the control plane answers, less and less often, and
// tells once that it is away and once that it is back.
//
//   answering ──no answer──▶ trying again ──no answer──▶ away ──an answer──▶ answering

/** Nobody answered, and whether the request was carried out is not known. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export interface SteadyOptions {
  readonly fetch: typeof globalThis.fetch;
  /** For each try. */
  readonly timeoutMs: (url: string) => number;
  /** Of requests that must not be repeated unasked, or that are repeated anyway. */
  readonly isOnce: (url: string) => boolean;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly away: (why: string) => void;
  readonly back: (seconds: number) => void;
}

export interface SteadyFetch {
  readonly fetch: typeof globalThis.fetch;
  /** From now on nothing is tried twice. */
  hurry(): void;
}

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [250, 30_000];
/** The server, or a proxy before it, cannot answer now. */
const PASSING = new Set([429, 502, 503, 504]);

export function steadyFetch(options: SteadyOptions): SteadyFetch {
  const hurrying = new AbortController();
  const line = new Line(options);
  const fetch: typeof globalThis.fetch = async (input, init) => {
    for (let tries = 1; ; tries++) {
      const tried = await tryOnce(input, init);
      if ('answer' in tried) {
        line.answered();
        return tried.answer;
      }
      if (init?.signal?.aborted) throw init.signal.reason;
      if (tries > 1 || options.isOnce(String(input))) line.silent(tried.why);
      if (hurrying.signal.aborted || options.isOnce(String(input)))
        throw new Unreachable(tried.why, { cause: tried.cause });
      await options.pause(waitMs(tries, tried.afterMs), hurrying.signal).catch(() => {});
    }
  };
  return { fetch, hurry: () => hurrying.abort() };

  async function tryOnce(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<Tried> {
    const timeout = AbortSignal.timeout(options.timeoutMs(String(input)));
    const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const answer = await options.fetch(input, { ...init, signal });
      if (!PASSING.has(answer.status)) return { answer };
      const afterMs = Number(answer.headers.get('Retry-After') ?? 0) * 1_000 || 0;
      await answer.body?.cancel();
      return { why: `it answers ${answer.status}`, afterMs };
    } catch (cause) {
      return { why: reasonOf(cause), afterMs: 0, cause };
    }
  }

  /** Half of it by chance, so that those who lost the same server do not all come back at once. */
  function waitMs(tries: number, afterMs: number): number {
    const longest = Math.max(afterMs, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
    return longest / 2 + (longest / 2) * options.random();
  }
}

type Tried =
  | { readonly answer: Response }
  | { readonly why: string; readonly afterMs: number; readonly cause?: unknown };

class Line {
  readonly #options: SteadyOptions;
  #awaySince: number | null = null;

  constructor(options: SteadyOptions) {
    this.#options = options;
  }

  silent(why: string): void {
    if (this.#awaySince !== null) return;
    this.#awaySince = performance.now();
    this.#options.away(why);
  }

  answered(): void {
    if (this.#awaySince === null) return;
    const seconds = Math.round((performance.now() - this.#awaySince) / 1_000);
    this.#awaySince = null;
    this.#options.back(seconds);
  }
}

/** What Node's fetch says is `fetch failed`; why is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}
