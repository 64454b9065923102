// A runner that goes on until it is told to stop: it takes whatever its target is offered, whichever workflow it is of.
//
//   post what an earlier one left ──▶ say that we start anew ──▶ drain ⇄ listen ──▶ stop: let what runs end, give the rest back

import { answerOf } from '../../host/client.ts';
import { Unreachable } from '../../host/steady-fetch.ts';
import type { Performed } from '../../runner/performed.ts';
import { type Answer, postResults } from '../../runner/post-results.ts';
import { resultOf } from '../../runner/result-journal.ts';
import { WorkPool } from '../../runner/work-pool.ts';
import type { Observation } from '../../schema/wire.ts';
import { Stop } from '../run/run-parts.ts';
import { LostRecords } from './lost-records.ts';
import { OfferedWork } from './offered-work.ts';
import type { WorkerOptions } from './worker-options.ts';

/** What a Worker may hold back, less than most proxies cut. */
const WAIT_SECONDS = 20;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #stop = new Stop();
  readonly #lost = new LostRecords();
  readonly #pool: WorkPool;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { client, runner, target, capacity, labels, allowed, leaseSeconds, results } = options;
    const work = new OfferedWork(options, this.#lost, (tokens) => this.#pool.isMine(tokens));
    this.#pool = new WorkPool({
      ...{ client, runner, targets: [target], capacity, labels, leaseSeconds, results },
      workflows: () => (allowed === null ? null : [...allowed.keys()]),
      definitions: allowed === null ? null : [...allowed.values()],
      ...{ stages: null, run: null, waitSeconds: WAIT_SECONDS },
      away: () => work.away(),
      receive: (items) => work.receive(items),
      stageOf: (item) => work.stageOf(item),
      perform: (items, signal) => work.perform(items, signal),
      observe: (observations) => this.#observe(observations),
      posted: (performed, answer) => this.#posted(performed, answer),
      isStopping: () => this.#stop.isStopped,
      signal: this.#stop.signal,
    });
  }

  /** Until it is stopped and what ran has ended; how many results wait on disk for the control plane. */
  async run(): Promise<number> {
    try {
      await this.#begin();
      while (!this.#stop.isStopped) {
        await this.#pool.drain();
        if (!this.#stop.isStopped) await this.#pool.listen();
      }
      await this.#pool.drain();
    } catch (error) {
      if (!(error instanceof Unreachable) || !this.#stop.isStopped) {
        this.#stop.atOnce();
        throw error;
      }
    } finally {
      await this.#pool.idle();
      this.#pool.close();
    }
    await this.#end();
    return this.#options.results.pending().length;
  }

  stop(): void {
    this.#stop.afterWhatRuns();
    this.#options.hurry();
    this.#pool.stopListening();
  }

  stopAtOnce(): void {
    this.#stop.atOnce();
    this.stop();
  }

  /** Results first: once it starts anew, what it held is anybody's. */
  async #begin(): Promise<void> {
    await this.#postKept();
    const { client, runner } = this.#options;
    await answerOf(client.api.work.restart.$post({ json: { runner } }));
  }

  /** What was got while it stopped, and nobody heard of, need not wait for its lease. */
  async #end(): Promise<void> {
    const { client, runner } = this.#options;
    try {
      await this.#postKept();
      await answerOf(client.api.work.restart.$post({ json: { runner } }));
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }

  async #postKept(): Promise<void> {
    const { client, runner, results } = this.#options;
    const kept = results.pending();
    const answers = await postResults(kept, { client, runner });
    for (const result of kept) if (answers.get(result.item.token)?.result === 'lost') this.#lost.keep(result);
    results.taken(kept.map(({ item }) => item.token));
  }

  async #observe(observations: readonly Observation[]): Promise<void> {
    if (observations.length === 0) return;
    const { client, target, runner } = this.#options;
    await answerOf(
      client.api.observations.$post({ json: { target, watcher: runner, observations: [...observations] } }),
    );
  }

  #posted(performed: Performed, answer: Answer): void {
    if (answer.result === 'lost') for (const result of resultOf(performed)) this.#lost.keep(result);
    this.#options.posted(performed, answer);
  }
}
