// What is done with each result of one workflow once it is posted: progress, event log, lock file, retries, and which
// paths were made anew. `run` has one of these; who serves many workflows has one for each.

import { isVouched, type Performed } from '../../runner/performed.ts';
import type { Answer } from '../../runner/work-pool.ts';
import { formatDuration } from '../../schema/duration.ts';
import type { EntityId, StageId } from '../../schema/words.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import type { LiveProgress } from '../render/live-progress.ts';
import type { Ended } from '../render/progress.ts';
import type { EventLog } from './event-log.ts';
import { entryOf } from './lock-entries.ts';
import type { LockRecords } from './lock-records.ts';
import { TARGET } from './look.ts';
import { nameOf, type StateResult, skippedFor } from './results.ts';
import type { Saving } from './saving.ts';
import { eventStateOf, keyOf, type NamedState, now } from './state-key.ts';

export interface KeepContext {
  readonly workflow: Workflow;
  readonly log: EventLog;
  readonly lock: LockRecords;
  /** Of the lock file. */
  readonly saving: Saving;
  readonly report: (result: StateResult) => void;
  readonly warn: (warning: string) => void;
  /** Null where nobody looks. */
  readonly progress: Pick<LiveProgress, 'started' | 'ended'> | null;
  /** A state failed for good, as far as this run is concerned. */
  readonly failed: () => void;
  /** A state was given back because a disk is full; where nothing follows from it, it is tried again. */
  readonly noRoomLeft?: () => void;
}

export type How = Pick<StateResult, 'status' | 'isWanted' | 'reasons' | 'error' | 'seconds'>;

export class KeepResults {
  readonly stages: ReadonlyMap<string, Stage>;
  readonly #context: KeepContext;
  readonly #results = new Map<string, StateResult>();
  readonly #remade = new Map<string, StageId>();
  readonly #retries = new Map<string, number>();
  #madeDirectory = false;

  constructor(context: KeepContext) {
    this.#context = context;
    this.stages = new Map(context.workflow.stages.map((stage) => [stage.id, stage]));
  }

  starting(item: NamedState, reasons: readonly string[]): void {
    this.#context.lock.refuseReadOnly();
    this.#context.lock.fallsBehind();
    this.#context.progress?.started(item.stage, item.entity);
    this.#context.log.append({
      ...{ ts: now(), event: 'stage_started' as const, ...eventStateOf(item), target: TARGET },
      ...{ cache_miss_reason: reasons.join('; '), purified: false },
    });
  }

  posted(performed: Performed, { result, retryAt }: Answer): void {
    const { item, post, warnings } = performed;
    this.#context.progress?.ended(item.stage, item.entity, howEnded(post.kind, result));
    for (const warning of warnings) this.#context.warn(warning);
    if (post.kind === 'release') this.#givenBack(performed);
    else if (post.kind === 'fail') this.#failed(performed, result, retryAt);
    else if (result !== 'lost') this.#completed(performed);
  }

  /** Which stage made the file at an absolute path anew. */
  remadeBy(path: string): StageId | undefined {
    return this.#remade.get(path);
  }

  /** Whether a directory was made since this was last asked: what is in it is only known by looking. */
  takeMadeDirectory(): boolean {
    const made = this.#madeDirectory;
    this.#madeDirectory = false;
    return made;
  }

  /** For who goes on for months: what was told need not be kept. */
  forget(): void {
    this.#results.clear();
    this.#remade.clear();
  }

  has(state: NamedState): boolean {
    return this.#results.has(keyOf(state));
  }

  all(): StateResult[] {
    return [...this.#results.values()];
  }

  report(stage: Stage, entity: string, how: How): void {
    this.#context.report(this.add(stage, entity, how));
  }

  /** The same, told to nobody until the end. */
  add(stage: Stage, entity: string, how: How): StateResult {
    const result = this.#resultOf({ stage: stage.id, entity }, how);
    this.#results.set(keyOf({ stage: stage.id, entity }), result);
    return result;
  }

  #resultOf(state: NamedState, how: How): StateResult {
    const stage = this.stages.get(state.stage)!;
    const entity = state.entity as EntityId;
    return { name: nameOf(stage, entity), stage: stage.id, entity, ...how };
  }

  #completed(performed: Performed): void {
    const { item, seconds, reasons, outs, skippedBecause } = performed;
    const stage = this.stages.get(item.stage)!;
    this.#lockIn(performed, stage);
    if (isVouched(performed)) return;
    this.#retries.delete(keyOf(item));
    if (skippedBecause !== null) {
      this.#context.log.append({
        ...{ ts: now(), event: 'stage_skipped' as const, ...eventStateOf(item), reason: skippedBecause },
      });
      this.report(stage, item.entity, skippedFor(skippedBecause));
      return;
    }
    for (const { path } of outs) this.#remade.set(path, stage.id);
    if (stage.outs.some(({ path }) => path.endsWith('/'))) this.#madeDirectory = true;
    this.#context.log.append({
      ...{ ts: now(), event: 'stage_completed' as const, ...eventStateOf(item) },
      ...{ duration_seconds: seconds, outs_hash: outs[0]?.hash ?? 'none' },
    });
    this.report(stage, item.entity, { status: 'completed', reasons, error: null, seconds });
  }

  #failed({ item, post, seconds, reasons }: Performed, result: string, retryAt: number | null): void {
    if (post.kind !== 'fail') return;
    const attempt = (this.#retries.get(keyOf(item)) ?? 0) + 1;
    this.#retries.set(keyOf(item), attempt);
    const { error, log_tail, outcome } = post.item;
    const { log } = this.#context;
    log.append({
      ...{ ts: now(), event: 'stage_failed' as const, ...eventStateOf(item) },
      ...{ exit_code: outcome.kind === 'exit' ? outcome.code : null, retry_attempt: attempt - 1, error },
    });
    if (result === 'retry' && retryAt !== null) {
      const backoff_seconds = Math.max(0, Math.round((retryAt - Date.now()) / 100) / 10);
      const again = { attempt: attempt + 1, backoff_seconds };
      log.append({ ts: now(), event: 'stage_retry', ...eventStateOf(item), ...again });
      const name = nameOf(this.stages.get(item.stage)!, item.entity as EntityId);
      const how = `${name} failed (${error.split('\n')[0]})`;
      this.#context.warn(`${how}; attempt ${attempt + 1} in ${formatDuration(backoff_seconds * 1_000)}`);
      return;
    }
    const said = log_tail === undefined || log_tail === '' ? error : `${error}\n${log_tail}`;
    const stage = this.stages.get(item.stage)!;
    this.report(stage, item.entity, { status: 'failed', reasons, error: said, seconds });
    this.#context.failed();
  }

  #givenBack({ item, noRoom }: Performed): void {
    const { noRoomLeft } = this.#context;
    if (noRoom === null || noRoomLeft === undefined) return;
    const reasons = [`${noRoom}; free some space and run again, no attempt is counted`];
    this.report(this.stages.get(item.stage)!, item.entity, {
      ...{ status: 'waiting' as const, reasons, error: null, seconds: 0 },
    });
    noRoomLeft();
  }

  #lockIn(performed: Performed, stage: Stage): void {
    const { item, key, outs, post, seconds } = performed;
    if (key === null || post.kind !== 'complete') return;
    const { lock, saving } = this.#context;
    const { outcome } = post.item;
    if (isVouched(performed) && lock.cacheKeyOf(item.stage, item.entity) === key.key.cacheKey) return;
    const retries = this.#retries.get(keyOf(item)) ?? 0;
    const skipped = outcome === 'skipped';
    const entry = entryOf({ stage, ...key, outs, skipped, retries, endedMs: Date.now(), seconds });
    lock.set(stage, item.entity, entry);
    saving.soon();
  }
}

function howEnded(kind: Performed['post']['kind'], result: string): Ended {
  if (kind === 'release' || result === 'lost') return 'released';
  if (kind === 'complete') return 'settled';
  return result === 'retry' ? 'again' : 'failed';
}
