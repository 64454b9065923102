// Claims, performs and posts until there is nothing left to do: as much side by side as fits, results in batches.
//
//   claim ──▶ waiting here ──fits──▶ running ──▶ to be posted ──▶ posted
//     ▲                                                             │
//     └───────────── something may have become ready ◀──────────────┘

import { answerOf, type Client, Refused } from '../host/client.ts';
import type { Claimed, Observation, OneState } from '../schema/wire.ts';
import type { Stage } from '../schema/workflow.ts';
import { type Capacity, Usage } from './capacity.ts';
import type { Performed } from './performed.ts';

export interface PoolContext {
  readonly client: Client;
  readonly runner: string;
  readonly targets: readonly string[];
  readonly capacity: Capacity;
  /** Those it can perform now; asked before every claim. */
  readonly workflows: () => readonly string[];
  /** Null is every stage of them. */
  readonly stages: readonly string[] | null;
  /** One state and what it needs. */
  readonly only?: OneState;
  readonly run: string | null;
  readonly stageOf: (item: Claimed) => Stage;
  /** All of one stage of one workflow. */
  readonly perform: (items: readonly Claimed[]) => Promise<readonly Performed[]>;
  readonly observe: (observations: readonly Observation[]) => Promise<void>;
  readonly posted: (performed: Performed, answer: Answer) => void;
  /** Nothing new is started once it says so; what runs may end. */
  readonly isStopping: () => boolean;
}

export interface Answer {
  readonly result: string;
  readonly retryAt: number | null;
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

export class WorkPool {
  readonly #context: PoolContext;
  readonly #usage: Usage;
  readonly #waiting: Claimed[] = [];
  readonly #held = new Set<number>();
  readonly #running = new Map<string, number>();
  #active = 0;
  #done: Performed[] = [];
  #postBy: NodeJS.Timeout | null = null;
  #isPostDue = false;
  #usualMs: number | null = null;
  #wake: () => void = () => {};
  /** Since the last claim was sent: remembered, for it may come while that one is under way. */
  #isPoked = false;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(context: PoolContext) {
    this.#context = context;
    this.#usage = new Usage(context.capacity);
    this.#heartbeat = setInterval(() => void this.#renew(), (LEASE_SECONDS * 1_000) / 3);
    this.#heartbeat.unref();
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

  close(): void {
    clearInterval(this.#heartbeat);
    if (this.#postBy !== null) clearTimeout(this.#postBy);
  }

  /** Whether the lease of every one of these is still ours. */
  async isMine(tokens: readonly number[]): Promise<boolean> {
    return tokens.every((token) => this.#held.has(token));
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
    const { client, runner, targets, workflows, stages, only, run, capacity } = this.#context;
    // What has ended may be all that something else is waiting for.
    await this.#post();
    this.#isPoked = false;
    const { items } = await answerOf(
      client.api.work.claim.$post({
        json: {
          ...{ runner, targets: [...targets], lease_seconds: LEASE_SECONDS },
          workflows: [...workflows()],
          ...(stages === null ? {} : { stages: [...stages] }),
          ...(only === undefined ? {} : { only }),
          limit: Math.min(500, Math.max(1, this.#ahead() - this.#waiting.length)),
          free: {
            ...{ cores: capacity.cores, gpu: capacity.gpu, memory_bytes: capacity.memoryBytes },
            pools: { ...capacity.pools },
          },
          ...(run === null ? {} : { run }),
        },
      }),
    );
    for (const item of items as Claimed[]) {
      this.#held.add(item.token);
      this.#waiting.push(item);
    }
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
    try {
      const performed = await this.#context.perform(items);
      this.#took((performance.now() - begun) / items.length);
      this.#done.push(...performed);
      this.#postBy ??= setTimeout(() => this.#postNow(), POST_WITHIN_MS);
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#active -= 1;
      this.#usage.give(stage.resources);
      this.#running.set(key, this.#running.get(key)! - 1);
      this.#wake();
    }
  }

  #failure: { readonly error: unknown } | null = null;

  #took(ms: number): void {
    this.#usualMs = this.#usualMs === null ? ms : this.#usualMs * 0.8 + ms * 0.2;
  }

  #postNow(): void {
    this.#isPostDue = true;
    this.#wake();
  }

  async #somethingEnds(): Promise<void> {
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
    await this.#context.observe(done.flatMap(({ observations }) => observations));
    const answers = await this.#answers(done);
    for (const performed of done) {
      this.#held.delete(performed.item.token);
      this.#context.posted(performed, answers.get(performed.item.token) ?? { result: 'lost', retryAt: null });
    }
  }

  /** A state that is given back again and again would be claimed again and again. */
  #notForEver(performed: Performed): Performed {
    const { item, post } = performed;
    if (post.kind !== 'release' || this.#context.isStopping()) return performed;
    const key = `${stageKey(item)}\0${item.entity}`;
    const times = (this.#released.get(key) ?? 0) + 1;
    this.#released.set(key, times);
    if (times < MOST_RELEASES) return performed;
    const fail = { token: item.token, outcome: { kind: 'error' as const }, error: post.because };
    return { ...performed, post: { kind: 'fail', item: fail } };
  }

  readonly #released = new Map<string, number>();

  async #answers(done: readonly Performed[]): Promise<ReadonlyMap<number, Answer>> {
    const { client, runner } = this.#context;
    const complete = done.flatMap(({ post }) => (post.kind === 'complete' ? [post.item] : []));
    const fail = done.flatMap(({ post }) => (post.kind === 'fail' ? [post.item] : []));
    const release = done.flatMap(({ post, item }) => (post.kind === 'release' ? [item.token] : []));
    const answers = new Map<number, Answer>();
    const take = async (
      results: Promise<{ results: { token: number; result: string; retry_at?: number | null }[] }>,
    ) => {
      for (const { token, result, retry_at } of (await results).results)
        answers.set(token, { result, retryAt: retry_at ?? null });
    };
    const { work } = client.api;
    if (complete.length > 0)
      await take(unlessLost(answerOf(work.complete.$post({ json: { runner, items: complete as never } }))));
    if (fail.length > 0) await take(unlessLost(answerOf(work.fail.$post({ json: { runner, items: fail } }))));
    if (release.length > 0)
      await take(unlessLost(answerOf(work.release.$post({ json: { runner, tokens: release } }))));
    return answers;
  }

  async #giveBack(): Promise<void> {
    const tokens = this.#waiting.splice(0).map(({ token }) => token);
    if (tokens.length === 0) return;
    for (const token of tokens) this.#held.delete(token);
    const { client, runner } = this.#context;
    await unlessLost(answerOf(client.api.work.release.$post({ json: { runner, tokens } })));
  }

  async #renew(): Promise<void> {
    const tokens = [...this.#held];
    if (tokens.length === 0) return;
    const { client, runner } = this.#context;
    const { lost } = await answerOf(
      client.api.work.heartbeat.$post({ json: { runner, tokens, lease_seconds: LEASE_SECONDS } }),
    ).catch(() => ({ lost: [] as number[] }));
    for (const token of lost) this.#held.delete(token);
  }
}

function stageKey({ workflow, stage }: Claimed): string {
  return `${workflow}\0${stage}`;
}

/** 409 says that all of them were lost: an answer, not a mistake. */
async function unlessLost<Body extends { results: unknown[] }>(answer: Promise<Body>): Promise<Body> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refused && error.code === 'lease-lost') return error.body as unknown as Body;
    throw error;
  }
}
