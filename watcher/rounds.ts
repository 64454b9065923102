// Goes round all lookouts until it is told to stop: each looks when its time has come, one after the other.

import { setTimeout as pause } from 'node:timers/promises';
import type { Lookout } from './lookout.ts';

export interface RoundsOptions {
  /** Asked before every round: they may come and go. */
  readonly lookouts: () => readonly Lookout[];
  readonly news: () => void;
  /** One could not tell what it saw. It tries again by itself; the others go on. */
  readonly failed: (lookout: Lookout, error: unknown) => void;
}

/** Nothing is slept through for longer, so that clocks that were set and machines that slept are noticed. */
const LONGEST_REST_MS = 5_000;
const CLOCK_JUMP_MS = 5_000;

export class Rounds {
  readonly #options: RoundsOptions;
  #isStopped = false;
  #isWoken = false;
  #wake: () => void = () => {};

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Something is due earlier than it was. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.wake();
  }

  /** Looks at everything for the first time; what goes wrong in it is thrown. */
  async first(): Promise<void> {
    for (const lookout of this.#options.lookouts()) if ((await lookout.look()) > 0) this.#options.news();
  }

  /** The same, but what goes wrong is only told: it is tried again. */
  async once(): Promise<void> {
    for (const lookout of this.#options.lookouts()) if (!this.#isStopped) await this.#look(lookout);
  }

  async run(): Promise<void> {
    let drift = Date.now() - performance.now();
    while (!this.#isStopped) {
      await this.#rest();
      if (this.#isStopped) return;
      const jumped = Math.abs(Date.now() - performance.now() - drift) > CLOCK_JUMP_MS;
      drift = Date.now() - performance.now();
      for (const lookout of this.#options.lookouts()) {
        lookout.checkRoot();
        if (jumped) lookout.distrust();
        if (lookout.dueInMs === 0) await this.#look(lookout);
        if (this.#isStopped) return;
      }
    }
  }

  async #look(lookout: Lookout): Promise<void> {
    try {
      if ((await lookout.look()) > 0) this.#options.news();
    } catch (error) {
      this.#options.failed(lookout, error);
    }
  }

  async #rest(): Promise<void> {
    const waits = this.#options.lookouts().map(({ dueInMs }) => dueInMs);
    const ms = Math.min(LONGEST_REST_MS, ...waits);
    if (ms > 0 && !this.#isWoken) {
      const resting = new AbortController();
      this.#wake = () => resting.abort();
      await pause(ms, undefined, { signal: resting.signal }).catch(() => {});
    }
    this.#isWoken = false;
  }
}
