// Long work in bounded slices: written once as a generator, run at once or with the event loop let in between.

import { setImmediate } from 'node:timers/promises';

/** Pauses wherever it has held the event loop long enough. */
export type Sliced<T> = Generator<undefined, T, undefined>;

export function runAtOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Heartbeats and requests are served between the slices; what each has brought may be taken right after it. */
export async function runInSlices<T>(work: Sliced<T>, take?: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = work.next();
    await take?.();
    if (step.done) return step.value;
    await setImmediate();
  }
}

/** Counts work in bytes hashed: 8 MiB are 2 ms native and about 15 ms in wasm. */
const SLICE = 8 * 2 ** 20;
/** What looking at one entry costs, in the same measure. */
export const ENTRY_COST = 16 * 2 ** 10;

export class Slice {
  #left = SLICE;

  /** True if it is time to pause. */
  spend(cost: number): boolean {
    this.#left -= cost;
    if (this.#left > 0) return false;
    this.#left = SLICE;
    return true;
  }
}
