// Claims, performs and posts until there is nothing left to do: as much side by side as fits, results in batches.
//
//   claim ──▶ waiting here ──fits──▶ running ──▶ to be posted ──▶ posted
//     ▲                                │                             │
//     │                                └──lease lost──▶ ended        │
//     └───────────── something may have become ready ◀───────────────┘

import { answerOf, type Client } from '../host/client.ts';
import { Unreachable } from '../host/steady-fetch.ts';
import type { AwayRoot, Claimed, Observation, OneState } from '../schema/wire.ts';
import type { Stage } from '../schema/workflow.ts';
import { type Capacity, Usage } from './capacity.ts';
import { Leases, momentNow } from './leases.ts';
import type { Performed } from './performed.ts';
import { type Answer, batches, postPerformed, releaseAll } from './post-results.ts';
import { type ResultJournal, resultOf } from './result-journal.ts';

export type { Answer } from './post-results.ts';

export interface PoolContext {
  readonly client: Client;
  readonly runner: string;
  readonly targets: readonly string[];
  readonly capacity: Capacity;
  readonly labels?: Readonly<Record<string, string>>;
  /** Those it can perform now, asked before every claim; null is all of them. */
  readonly workflows: () => readonly string[] | null;
  /** Only these definitions of them; null is all. */
  readonly definitions?: readonly string[] | null;
  /** None of these, asked before every claim: their files are not there now. */
  readonly away?: () => readonly AwayRoot[];
  /** Null is every stage of them. */
  readonly stages: readonly string[] | null;
  /** One state and what it needs. */
  readonly only?: OneState;
  readonly run: string | null;
  readonly leaseSeconds?: number;
  /** How long a claim may be held back while there is nothing to do; 0 is for who is told by `poke`. */
  readonly waitSeconds?: number;
  /** Where results are until they are acknowledged; null if the control plane ends with this process. */
  readonly results?: ResultJournal | null;
  /** Makes claims ready to be performed here; what it leaves out it has answered itself. */
  readonly receive?: (items: readonly Claimed[]) => Promise<readonly Claimed[]>;
  readonly stageOf: (item: Claimed) => Stage;
  /** All of one stage of one workflow, until the signal says that nobody wants it any more. */
  readonly perform: (items: readonly Claimed[], signal: AbortSignal) => Promise<readonly Performed[]>;
  readonly observe: (observations: readonly Observation[]) => Promise<void>;
  readonly posted: (performed: Performed, answer: Answer) => void;
  /** Nothing new is started once it says so; what runs may end. */
  readonly isStopping: () => boolean;
  /** Ends what runs at once. */
  readonly signal: AbortSignal;
}

const LEASE_SECONDS = 60;
/**
 * Claimed ahead per core, so that a command need not wait for the database: what is done in this time, but no more,
 * for another runner could be doing it.
 */
const AHEAD_MS = 100;
const [AHEAD_AT_FIRST, MOST_AHEAD] = [8, 64];
/** A result waits this long for others, while there is something else to do: a batch costs little more than one. */
const POST_WITHIN_MS = 25;
const POST_AT_ONCE = 64;
const MOST_RELEASES = 3;
/** A claim is held back no longer while something is away: it is only looked at before the next. */
const WAIT_WHILE_AWAY_SECONDS = 2;

export class WorkPool {
  readonly #context: PoolContext;
  readonly #usage: Usage;
  readonly #leases: Leases;
  readonly #leaseSeconds: number;
  readonly #waiting: Claimed[] = [];
  readonly #running = new Map<string, number>();
  /** Of each token what ends its command. */
  readonly #attempts = new Map<number, AbortController>();
  #active = 0;
  #done: Performed[] = [];
  #postBy: NodeJS.Timeout | null = null;
  #isPostDue = false;
  #usualMs: number | null = null;
  #wake: () => void = () => {};
  /** Since the last claim was sent: remembered, for it may come while that one is under way. */
  #isPoked = false;
  #failure: { readonly error: unknown } | null = null;
  readonly #released = new Map<string, number>();
  #listening: Promise<void> | null = null;
  #stopListening = new AbortController();
  /** Counts how often the claims that were under way had to be given up. */
  #round = 0;
  readonly #onStop = () => {
    for (const attempt of this.#attempts.values()) attempt.abort();
  };

  constructor(context: PoolContext) {
    this.#context = context;
    this.#usage = new Usage(context.capacity);
    this.#leaseSeconds = context.leaseSeconds ?? LEASE_SECONDS;
    this.#leases = new Leases({
      leaseMs: this.#leaseSeconds * 1_000,
      now: momentNow,
      renew: (tokens) => this.#renew(tokens),
      lost: (tokens) => this.#lose(tokens),
    });
    context.signal.addEventListener('abort', this.#onStop);
  }

  /** Returns when nothing can be claimed and nothing runs. */
  async drain(): Promise<void> {
    for (;;) {
      if (this.#context.isStopping()) await this.#giveBack();
      else if (this.#waiting.length < this.#cores()) await this.#claim();
      this.#start();
      if (this.#active === 0 && this.#done.length === 0 && this.#waiting.length === 0) return;
      if (this.#active > 0 && !this.#mustPost()) await this.#somethingEnds();
      if (this.#mustPost()) await this.#post();
    }
  }

  /** Something may have become ready: claims again now, not only when what runs has ended. */
  poke(): void {
    this.#isPoked = true;
    this.#wake();
  }

  /** Until there is something to do, or `stopListening` is called. */
  async listen(): Promise<void> {
    this.#listen();
    await this.#listening;
    if (this.#failure !== null) throw this.#failure.error;
  }

  stopListening(): void {
    this.#stopListening.abort();
    this.#wake();
  }

  /** Until nothing runs any more, whatever else is going on. */
  async idle(): Promise<void> {
    while (this.#active > 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  close(): void {
    this.#leases.close();
    this.#context.signal.removeEventListener('abort', this.#onStop);
    if (this.#postBy !== null) clearTimeout(this.#postBy);
  }

  /** Whether the lease of every one of these is still ours. */
  isMine(tokens: readonly number[]): Promise<boolean> {
    return this.#leases.holdsAll(tokens);
  }

  #cores(): number {
    return Math.max(1, Math.floor(this.#context.capacity.cores));
  }

  /** Somebody waits for what has ended: the next claim, or the database for long enough. */
  #mustPost(): boolean {
    if (this.#done.length === 0) return false;
    // Nothing new is started before it is known what a failure, or a full disk, means for the rest.
    if (this.#done.some(({ post }) => post.kind !== 'complete')) return true;
    return this.#isPostDue || this.#waiting.length === 0 || this.#done.length >= POST_AT_ONCE;
  }

  #ahead(): number {
    const perCore = this.#usualMs === null ? AHEAD_AT_FIRST : Math.ceil(AHEAD_MS / this.#usualMs);
    return this.#cores() * Math.min(MOST_AHEAD, Math.max(1, perCore));
  }

  async #claim(): Promise<void> {
    // What has ended may be all that something else is waiting for.
    await this.#post();
    this.#isPoked = false;
    await this.#claimNow({ limit: this.#ahead() - this.#waiting.length, waitSeconds: 0 });
  }

  /** A claim without an answer may have got something all the same: that is given back before the next. */
  async #claimNow(asked: AskedClaim): Promise<void> {
    try {
      await this.#claimOnce(asked);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.#round += 1;
      const { client, runner } = this.#context;
      await answerOf(client.api.work.restart.$post({ json: { runner, holding: this.#leases.tokens() } }));
    }
  }

  async #claimOnce(asked: AskedClaim): Promise<void> {
    const { client, runner, targets, workflows, definitions, stages, only, run, capacity, labels } =
      this.#context;
    const [known, away] = [workflows(), this.#context.away?.() ?? []];
    const waitSeconds =
      away.length === 0 ? asked.waitSeconds : Math.min(asked.waitSeconds, WAIT_WHILE_AWAY_SECONDS);
    const [round, sentAt] = [this.#round, momentNow()];
    const sent = client.api.work.claim.$post(
      {
        json: {
          ...{ runner, targets: [...targets], lease_seconds: this.#leaseSeconds },
          ...(known === null ? {} : { workflows: [...known] }),
          ...(definitions == null ? {} : { definitions: [...definitions] }),
          ...(stages === null ? {} : { stages: [...stages] }),
          ...(only === undefined ? {} : { only }),
          ...(away.length === 0 ? {} : { away: [...away] }),
          limit: Math.min(500, Math.max(1, asked.limit)),
          free: {
            ...{ cores: capacity.cores, gpu: capacity.gpu, memory_bytes: capacity.memoryBytes },
            pools: { ...capacity.pools },
          },
          ...(labels === undefined ? {} : { labels: { ...labels } }),
          ...(run === null ? {} : { run }),
          ...(waitSeconds === 0 ? {} : { wait_seconds: waitSeconds }),
        },
      },
      asked.signal === undefined ? undefined : { init: { signal: asked.signal } },
    );
    const { items } = await answerOf(sent);
    // Given back meanwhile, because nobody could tell what this claim had got.
    if (round === this.#round) await this.#receive(items as Claimed[], sentAt);
  }

  async #receive(items: readonly Claimed[], sentAt: ReturnType<typeof momentNow>): Promise<void> {
    if (items.length === 0) return;
    const { receive } = this.#context;
    this.#leases.take(
      items.map(({ token }) => token),
      sentAt,
    );
    const ready = receive === undefined ? items : await receive(items);
    this.#waiting.push(...ready);
    if (ready.length === items.length) return;
    const here = new Set(ready.map(({ token }) => token));
    for (const { token } of items) if (!here.has(token)) this.#leases.give(token);
  }

  /** One claim that waits for what there is to do, beside whatever runs. */
  #listen(): void {
    const { waitSeconds = 0, isStopping } = this.#context;
    if (waitSeconds === 0 || this.#listening !== null || isStopping()) return;
    const { signal } = this.#stopListening;
    this.#listening = this.#claimNow({ limit: this.#cores(), waitSeconds, signal })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#failure ??= { error };
      })
      .finally(() => {
        this.#listening = null;
        this.poke();
      });
  }

  #start(): void {
    for (let i = 0; i < this.#waiting.length; ) {
      const item = this.#waiting[i]!;
      const stage = this.#context.stageOf(item);
      if (!this.#usage.fits(stage.resources) || !this.#hasWorker(item, stage)) {
        i += 1;
        continue;
      }
      void this.#run(stage, this.#takeFrom(i, stage));
    }
  }

  /** One item, or as many of its stage as make a chunk. */
  #takeFrom(index: number, stage: Stage): Claimed[] {
    const most = stage.fanOut?.strategy === 'chunked' ? (stage.fanOut.chunkSize ?? 1) : 1;
    const taken: Claimed[] = [];
    const wanted = stageKey(this.#waiting[index]!);
    for (let i = index; i < this.#waiting.length && taken.length < most; ) {
      if (stageKey(this.#waiting[i]!) === wanted) taken.push(...this.#waiting.splice(i, 1));
      else i += 1;
    }
    return taken;
  }

  #hasWorker(item: Claimed, { fanOut }: Stage): boolean {
    return (this.#running.get(stageKey(item)) ?? 0) < (fanOut?.maxWorkers ?? Number.POSITIVE_INFINITY);
  }

  async #run(stage: Stage, items: readonly Claimed[]): Promise<void> {
    this.#active += 1;
    this.#usage.take(stage.resources);
    const key = stageKey(items[0]!);
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    const begun = performance.now();
    const attempt = new AbortController();
    if (this.#context.signal.aborted) attempt.abort();
    for (const { token } of items) this.#attempts.set(token, attempt);
    try {
      const performed = await this.#context.perform(items, attempt.signal);
      this.#took((performance.now() - begun) / items.length);
      this.#context.results?.keep(performed.flatMap(resultOf));
      this.#done.push(...performed);
      this.#postBy ??= setTimeout(() => this.#postNow(), POST_WITHIN_MS);
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      for (const { token } of items) this.#attempts.delete(token);
      this.#active -= 1;
      this.#usage.give(stage.resources);
      this.#running.set(key, this.#running.get(key)! - 1);
      this.#wake();
    }
  }

  #took(ms: number): void {
    this.#usualMs = this.#usualMs === null ? ms : this.#usualMs * 0.8 + ms * 0.2;
  }

  #postNow(): void {
    this.#isPostDue = true;
    this.#wake();
  }

  async #somethingEnds(): Promise<void> {
    if (this.#waiting.length < this.#cores()) this.#listen();
    if (!this.#isPoked || this.#waiting.length >= this.#cores())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #post(): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error;
    const done = this.#done.map((each) => this.#notForEver(each));
    this.#done = [];
    if (this.#postBy !== null) clearTimeout(this.#postBy);
    [this.#postBy, this.#isPostDue] = [null, false];
    if (done.length === 0) return;
    const { client, runner, results, observe, posted } = this.#context;
    await observe(done.flatMap(({ observations }) => observations));
    const answers = await postPerformed(done, { client, runner });
    results?.taken(done.map(({ item }) => item.token));
    for (const performed of done) {
      this.#leases.give(performed.item.token);
      posted(performed, answers.get(performed.item.token) ?? { result: 'lost', retryAt: null });
    }
  }

  /** A state that is given back again and again would be claimed again and again. */
  #notForEver(performed: Performed): Performed {
    const { item, post } = performed;
    if (post.kind !== 'release' || this.#context.isStopping() || !this.#leases.holds(item.token))
      return performed;
    const key = `${stageKey(item)}\0${item.entity}`;
    const times = (this.#released.get(key) ?? 0) + 1;
    this.#released.set(key, times);
    if (times < MOST_RELEASES) return performed;
    const fail = { token: item.token, outcome: { kind: 'error' as const }, error: post.because };
    return { ...performed, post: { kind: 'fail', item: fail } };
  }

  async #giveBack(): Promise<void> {
    await this.#release(this.#waiting.splice(0).map(({ token }) => token));
  }

  async #release(tokens: readonly number[]): Promise<void> {
    for (const token of tokens) this.#leases.give(token);
    await releaseAll(tokens, this.#context);
  }

  async #renew(tokens: readonly number[]): Promise<ReadonlySet<number>> {
    const { client, runner } = this.#context;
    const kept = new Set<number>();
    for (const batch of batches(tokens)) {
      const json = { runner, tokens: batch, lease_seconds: this.#leaseSeconds };
      for (const token of (await answerOf(client.api.work.heartbeat.$post({ json }))).kept) kept.add(token);
    }
    return kept;
  }

  /** What waits is forgotten, what runs is ended. */
  #lose(tokens: readonly number[]): void {
    const lost = new Set(tokens);
    const left = this.#waiting.filter(({ token }) => !lost.has(token));
    this.#waiting.splice(0, this.#waiting.length, ...left);
    for (const token of tokens) this.#attempts.get(token)?.abort();
    this.#wake();
  }
}

interface AskedClaim {
  readonly limit: number;
  readonly waitSeconds: number;
  readonly signal?: AbortSignal;
}

function stageKey({ workflow, stage }: Claimed): string {
  return `${workflow}\0${stage}`;
}
