// What was made here under a lease that had run out by the time the control plane heard of it: the result does not
// count, but it proves as well as any other which bytes came from which key. When the state is claimed here again, it
// need not be made again.

import type { Result } from '../../runner/result-journal.ts';
import type { Claimed } from '../../schema/wire.ts';

type StateRecord = Claimed['records'][number];

/** Beyond it the oldest are forgotten, and made again. */
const MOST = 10_000;

export class LostRecords {
  readonly #records = new Map<string, StateRecord>();

  keep(result: Result): void {
    if (result.kind !== 'complete') return;
    const { outcome, cache_key, recipe, deps, outs } = result.item;
    if (outcome !== 'made' || cache_key === undefined) return;
    const key = keyOf(result);
    this.#records.delete(key);
    this.#records.set(key, {
      ...{ cache_key, recipe: recipe ?? null, skipped: false },
      ...{ deps: deps ?? [], outs: outs ?? [] },
    });
    if (this.#records.size > MOST) this.#records.delete(this.#records.keys().next().value!);
  }

  /** The claim with what is known here of its state. */
  addTo(item: Claimed): Claimed {
    const record = this.#records.get(keyOf(item));
    return record === undefined ? item : { ...item, records: [record, ...item.records] };
  }

  forget(item: Claimed): void {
    this.#records.delete(keyOf(item));
  }
}

function keyOf({ workflow, stage, entity }: Pick<Claimed, 'workflow' | 'stage' | 'entity'>): string {
  return [workflow, stage, entity].join('\0');
}
