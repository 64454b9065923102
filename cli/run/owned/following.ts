// What happens to one workflow at its owner from some moment on: event by event, as a run would tell it.

import { answerOf, type Client } from '../../../host/client.ts';
import type { EventAnswer } from '../../../schema/read-answers.ts';
import type { EntityId } from '../../../schema/words.ts';
import type { Stage } from '../../../schema/workflow.ts';
import type { Ended } from '../../render/progress.ts';
import type { How } from '../keep-results.ts';
import { nameOf, type StateResult, skippedFor } from '../results.ts';
import type { RunRequest } from '../run-parts.ts';
import { keyOf, type NamedState } from '../state-key.ts';

type Wanted = Pick<RunRequest, 'loaded' | 'report' | 'progress'>;

const PAGE = 1_000;
const ENDS: Readonly<Record<string, Ended>> = {
  stage_completed: 'settled',
  stage_cached: 'settled',
  stage_skipped: 'settled',
  stage_cleaned: 'settled',
  stage_failed: 'again',
  stage_released: 'released',
  stage_lost: 'released',
};

export class Following {
  readonly #results = new Map<string, StateResult>();
  readonly #client: Client;
  readonly #request: Wanted;
  #after: number;

  static async fromNow(client: Client, request: Wanted): Promise<Following> {
    const newest = await answerOf(client.api.events.$get({ query: { newest: '1' } as never }));
    return new Following(client, request, newest.at(-1)?.id ?? 0);
  }

  private constructor(client: Client, request: Wanted, after: number) {
    this.#client = client;
    this.#request = request;
    this.#after = after;
  }

  /** What came of a state, told at once. */
  tell(id: string, entity: string, how: How): void {
    this.#request.report(this.add(id, entity, how));
  }

  /** The same, told to nobody until the end. */
  add(id: string, entity: string, how: How): StateResult {
    const stage = this.#stageOf(id)!;
    const named = { name: nameOf(stage, entity as EntityId), stage: stage.id, entity: entity as EntityId };
    const result = { ...named, ...how };
    this.#results.set(keyOf({ stage: id, entity }), result);
    return result;
  }

  has(state: NamedState): boolean {
    return this.#results.has(keyOf(state));
  }

  all(): StateResult[] {
    return [...this.#results.values()];
  }

  /** How much has happened since the last look. */
  async look(): Promise<number> {
    const { workflow } = this.#request.loaded;
    for (let happened = 0; ; ) {
      const events = await page(this.#client, workflow.name, this.#after);
      for (const event of events) this.#take(event);
      happened += events.length;
      this.#after = events.at(-1)?.id ?? this.#after;
      if (events.length < PAGE) return happened;
    }
  }

  #take({ event, stage: id = '', entity = '', seconds, reasons }: EventAnswer): void {
    const { progress } = this.#request;
    if (this.#stageOf(id) === undefined) return;
    if (event === 'stage_started') progress?.started(id, entity);
    const how = ENDS[event];
    if (how !== undefined) progress?.ended(id, entity, how);
    if (event === 'stage_skipped') this.tell(id, entity, skippedFor('its condition is false'));
    if (event !== 'stage_completed') return;
    const told = { reasons: (reasons ?? []) as string[], seconds: Number(seconds ?? 0) };
    this.tell(id, entity, { status: 'completed', error: null, ...told });
  }

  #stageOf(id: string): Stage | undefined {
    return this.#request.loaded.workflow.stages.find((stage) => stage.id === id);
  }
}

async function page(client: Client, workflow: string, after: number): Promise<readonly EventAnswer[]> {
  const query = { after: String(after), limit: String(PAGE), workflow };
  return (await answerOf(client.api.events.$get({ query: query as never }))) as EventAnswer[];
}
