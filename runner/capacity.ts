// What a machine has to give and what is in use: no command is started that does not fit beside the others.

import { shown } from '../schema/diagnostic.ts';
import type { Resources, Stage } from '../schema/workflow.ts';

export interface Capacity {
  readonly cores: number;
  /** Null is no limit of its own. */
  readonly memoryBytes: number | null;
  readonly gpu: number;
  readonly pools: Readonly<Record<string, number>>;
}

export class Usage {
  readonly #capacity: Capacity;
  #cores = 0;
  #memoryBytes = 0;
  #gpu = 0;
  readonly #pools = new Map<string, number>();

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  fits({ cores, memoryBytes, gpu, slots }: Resources): boolean {
    const { cores: all, memoryBytes: memory, gpu: gpus, pools } = this.#capacity;
    return (
      this.#cores + cores <= all &&
      (memory === null || this.#memoryBytes + memoryBytes <= memory) &&
      this.#gpu + gpu <= gpus &&
      Object.entries(slots).every(([pool, wanted]) => this.#inUse(pool) + wanted <= (pools[pool] ?? 0))
    );
  }

  take(resources: Resources): void {
    this.#add(resources, 1);
  }

  give(resources: Resources): void {
    this.#add(resources, -1);
  }

  #inUse(pool: string): number {
    return this.#pools.get(pool) ?? 0;
  }

  #add({ cores, memoryBytes, gpu, slots }: Resources, sign: 1 | -1): void {
    this.#cores += sign * cores;
    this.#memoryBytes += sign * memoryBytes;
    this.#gpu += sign * gpu;
    for (const [pool, wanted] of Object.entries(slots))
      this.#pools.set(pool, this.#inUse(pool) + sign * wanted);
  }
}

/** Why a stage can never run here, or null: better told at once than waited for. */
export function neverFits({ id, resources }: Stage, capacity: Capacity): string | null {
  const wants = (what: string, wanted: number, has: number) =>
    wanted > has ? `stage '${shown(id)}' needs ${wanted} ${what}, and this machine has ${has}` : null;
  return (
    wants('cores', resources.cores, capacity.cores) ??
    (capacity.memoryBytes === null
      ? null
      : wants('bytes of memory', resources.memoryBytes, capacity.memoryBytes)) ??
    wants('gpu', resources.gpu, capacity.gpu) ??
    missingSlots(id, resources.slots, capacity.pools)
  );
}

function missingSlots(id: string, slots: Resources['slots'], pools: Capacity['pools']): string | null {
  for (const [pool, wanted] of Object.entries(slots)) {
    const has = pools[pool] ?? 0;
    if (wanted > has)
      return `stage '${shown(id)}' needs ${wanted} of the pool '${shown(pool)}', and this machine has ${has}`;
  }
  return null;
}
