// Keeps workflows fresh until it is told to stop: one pool works, each workflow is looked at when something happened.

import { setTimeout as pause } from 'node:timers/promises';
import { answerOf, type Client } from '../../host/client.ts';
import type { Capacity } from '../../runner/capacity.ts';
import { WorkPool } from '../../runner/work-pool.ts';
import { Rounds } from '../../watcher/rounds.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import { isOfTheWorld } from '../refused.ts';
import { RUNNER, TARGET } from '../run/look.ts';
import type { StateResult } from '../run/results.ts';
import { Stop } from '../run/run-parts.ts';
import { type KeptContext, KeptWorkflow } from './kept-workflow.ts';

export interface KeeperOptions extends Omit<KeptContext, 'isMine' | 'changed' | 'report'> {
  readonly report: (result: StateResult, workflow: string) => void;
  readonly client: Client;
  readonly capacity: Capacity;
}

/** Nothing is slept through for longer: retries that are due. */
const LONGEST_REST_MS = 5_000;

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #stop = new Stop();
  readonly #kept = new Map<string, KeptWorkflow>();
  readonly #pool: WorkPool;
  readonly #rounds: Rounds;
  #isChanging = false;
  #draining = Promise.resolve();
  #retryAtMs = Number.POSITIVE_INFINITY;
  #wakeWork: () => void = () => {};
  /** Since what there was to do was asked for: remembered, for it may come while that is being answered. */
  #isPoked = false;
  #isReady = false;
  #tellReady: () => void = () => {};
  readonly #ready = new Promise<void>((resolve) => {
    this.#tellReady = resolve;
  });

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#rounds = new Rounds({
      lookouts: () => [...this.#kept.values()].map(({ lookout }) => lookout),
      news: () => this.poke(),
      failed: (_, error) => options.warn(whyNotTold(error)),
    });
    this.#pool = new WorkPool({
      ...{ client: options.client, runner: RUNNER, targets: [TARGET], capacity: options.capacity },
      // The project's database may know workflows that this process was not given.
      ...{ workflows: () => [...this.#kept.keys()], stages: null, run: null },
      stageOf: ({ workflow, stage }) => this.#kept.get(workflow)!.stageOf(stage),
      perform: (items, signal) => this.#kept.get(items[0]!.workflow)!.perform(items, signal),
      observe: async (observations) => {
        // Any of them may say it: what is told of a path does not depend on who reads it.
        if (observations.length > 0) await [...this.#kept.values()][0]!.observe(observations);
      },
      posted: (performed, answer) => {
        if (answer.retryAt !== null) this.#retryAtMs = Math.min(this.#retryAtMs, answer.retryAt);
        this.#kept.get(performed.item.workflow)!.posted(performed, answer);
      },
      isStopping: () => this.#stop.isStopped || this.#isChanging,
      signal: this.#stop.signal,
    });
  }

  /** What an owner that died held is free again, before anything is looked at. */
  async start(): Promise<void> {
    await answerOf(this.#options.client.api.work.restart.$post({ json: { runner: RUNNER } }));
  }

  /** Takes a workflow up, or another definition of it; what runs may end first. */
  async keep(loaded: LoadedWorkflow): Promise<void> {
    this.#isChanging = true;
    try {
      await this.#idle();
      const { name } = loaded.workflow;
      this.#kept.get(name)?.close();
      const workflow = await KeptWorkflow.open(loaded, {
        ...this.#options,
        report: (result) => this.#options.report(result, name),
        isMine: (tokens) => this.#pool.isMine(tokens),
        changed: () => this.#rounds.wake(),
      });
      this.#kept.set(name, workflow);
    } finally {
      this.#isChanging = false;
      this.poke();
      this.#rounds.wake();
    }
  }

  /** Until it is stopped and what ran has ended. */
  async run(): Promise<void> {
    try {
      await this.#rounds.first();
      this.#isReady = true;
      this.#tellReady();
      await Promise.all([this.#working(), this.#rounds.run()]);
    } finally {
      this.#pool.close();
      for (const workflow of this.#kept.values()) workflow.close();
    }
  }

  /** Once everything was looked at for the first time. */
  ready(): Promise<void> {
    return this.#ready;
  }

  stop(): void {
    this.#stop.afterWhatRuns();
    this.poke();
    this.#rounds.stop();
  }

  stopAtOnce(): void {
    this.#stop.atOnce();
    this.stop();
  }

  async #working(): Promise<void> {
    for (;;) {
      this.#isPoked = false;
      if (this.#stop.isStopped) break;
      this.#draining = this.#isReady && !this.#isChanging ? this.#pool.drain() : Promise.resolve();
      await this.#draining;
      for (const workflow of this.#kept.values()) workflow.rest();
      const retryInMs = Math.max(0, this.#retryAtMs - Date.now());
      if (retryInMs === 0) this.#retryAtMs = Number.POSITIVE_INFINITY;
      if (this.#isPoked) continue;
      await this.#rest(Math.min(retryInMs, LONGEST_REST_MS), (wake) => {
        this.#wakeWork = wake;
      });
    }
    await this.#pool.drain();
  }

  /** Nothing is claimed any more once something changes; what runs is waited for. */
  async #idle(): Promise<void> {
    await this.#draining;
  }

  /** There may be something to do. */
  poke(): void {
    this.#isPoked = true;
    this.#wakeWork();
    this.#pool.poke();
  }

  async #rest(ms: number, keep: (wake: () => void) => void): Promise<void> {
    const resting = new AbortController();
    keep(() => resting.abort());
    await pause(ms, undefined, { signal: resting.signal }).catch(() => {});
  }
}

function whyNotTold(error: unknown): string {
  if (!isOfTheWorld(error)) throw error;
  const next = 'hint' in error ? `; ${error.hint}` : '';
  return `what changed could not be told: ${error.message}; it is tried again${next}`;
}
