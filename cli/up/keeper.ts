// Keeps workflows fresh until it is told to stop: one pool works, each workflow is looked at when something happened.

import { setTimeout as pause } from 'node:timers/promises';
import { answerOf, type Client } from '../../host/client.ts';
import type { Capacity } from '../../runner/capacity.ts';
import { WorkPool } from '../../runner/work-pool.ts';
import { LookTimes } from '../../watcher/look-times.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import { RUNNER, TARGET } from '../run/look.ts';
import type { StateResult } from '../run/results.ts';
import { Stop } from '../run/run-parts.ts';
import { type KeptContext, KeptWorkflow } from './kept-workflow.ts';

export interface KeeperOptions extends Omit<KeptContext, 'isMine' | 'changed' | 'report'> {
  readonly report: (result: StateResult, workflow: string) => void;
  readonly client: Client;
  readonly capacity: Capacity;
}

interface Kept {
  readonly workflow: KeptWorkflow;
  readonly times: LookTimes;
}

/** Nothing is slept through for longer: retries that are due, and clocks that were set or machines that slept. */
const LONGEST_REST_MS = 5_000;
const CLOCK_JUMP_MS = 5_000;

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #stop = new Stop();
  readonly #kept = new Map<string, Kept>();
  readonly #pool: WorkPool;
  #isChanging = false;
  #draining = Promise.resolve();
  #retryAtMs = Number.POSITIVE_INFINITY;
  #wakeWork: () => void = () => {};
  #wakeLook: () => void = () => {};
  #isReady = false;
  #tellReady: () => void = () => {};
  readonly #ready = new Promise<void>((resolve) => {
    this.#tellReady = resolve;
  });

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#pool = new WorkPool({
      ...{ client: options.client, runner: RUNNER, targets: [TARGET], capacity: options.capacity },
      // The project's database may know workflows that this process was not given.
      ...{ workflows: () => [...this.#kept.keys()], stages: null, run: null },
      stageOf: ({ workflow, stage }) => this.#kept.get(workflow)!.workflow.stageOf(stage),
      perform: (items, signal) => this.#kept.get(items[0]!.workflow)!.workflow.perform(items, signal),
      observe: async (observations) => {
        // Any of them may say it: what is told of a path does not depend on who reads it.
        if (observations.length > 0) await [...this.#kept.values()][0]!.workflow.observe(observations);
      },
      posted: (performed, answer) => {
        if (answer.retryAt !== null) this.#retryAtMs = Math.min(this.#retryAtMs, answer.retryAt);
        this.#kept.get(performed.item.workflow)!.workflow.posted(performed, answer);
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
      this.#kept.get(name)?.workflow.close();
      const times = new LookTimes({
        scanIntervalMs: loaded.workflow.watch.scanIntervalMs,
        nowMs: () => performance.now(),
      });
      const workflow = await KeptWorkflow.open(loaded, {
        ...this.#options,
        report: (result) => this.#options.report(result, name),
        isMine: (tokens) => this.#pool.isMine(tokens),
        changed: () => {
          times.hinted();
          this.#wakeLook();
        },
      });
      this.#kept.set(name, { workflow, times });
    } finally {
      this.#isChanging = false;
      this.#wakeWork();
      this.#wakeLook();
    }
  }

  /** Until it is stopped and what ran has ended. */
  async run(): Promise<void> {
    try {
      await this.#lookAtAll();
      await Promise.all([this.#working(), this.#looking()]);
    } finally {
      this.#pool.close();
      for (const { workflow } of this.#kept.values()) workflow.close();
    }
  }

  /** Once everything was looked at for the first time. */
  ready(): Promise<void> {
    return this.#ready;
  }

  async #lookAtAll(): Promise<void> {
    for (const kept of this.#kept.values()) await this.#look(kept);
    this.#isReady = true;
    this.#tellReady();
  }

  stop(): void {
    this.#stop.afterWhatRuns();
    this.#wakeWork();
    this.#wakeLook();
  }

  stopAtOnce(): void {
    this.#stop.atOnce();
    this.stop();
  }

  async #working(): Promise<void> {
    while (!this.#stop.isStopped) {
      this.#draining = this.#isReady && !this.#isChanging ? this.#pool.drain() : Promise.resolve();
      await this.#draining;
      for (const { workflow } of this.#kept.values()) workflow.rest();
      const retryInMs = Math.max(0, this.#retryAtMs - Date.now());
      if (retryInMs === 0) this.#retryAtMs = Number.POSITIVE_INFINITY;
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

  async #looking(): Promise<void> {
    let drift = Date.now() - performance.now();
    while (!this.#stop.isStopped) {
      const waits = [...this.#kept.values()].map((kept) => dueInMs(kept));
      await this.#rest(Math.min(LONGEST_REST_MS, ...waits), (wake) => {
        this.#wakeLook = wake;
      });
      if (this.#stop.isStopped) return;
      const jumped = Math.abs(Date.now() - performance.now() - drift) > CLOCK_JUMP_MS;
      drift = Date.now() - performance.now();
      for (const kept of this.#kept.values()) if (jumped || dueInMs(kept) === 0) await this.#look(kept);
    }
  }

  async #look({ workflow, times }: Kept): Promise<void> {
    const begun = performance.now();
    times.begun();
    const news = await workflow.look();
    times.ended(performance.now() - begun);
    if (news === 0) return;
    this.poke();
  }

  /** There may be something to do. */
  poke(): void {
    this.#wakeWork();
    this.#pool.poke();
  }

  async #rest(ms: number, keep: (wake: () => void) => void): Promise<void> {
    const resting = new AbortController();
    keep(() => resting.abort());
    await pause(ms, undefined, { signal: resting.signal }).catch(() => {});
  }
}

function dueInMs({ workflow, times }: Kept): number {
  return times.dueInMs({ settleMs: workflow.settling.waitMs(), polls: workflow.polls });
}
