// Whether a stage is for a runner, and what the choice among its states depends on.

import type { PlacedStage } from './discovery/registry.ts';
import type { ClaimBody } from './wire.ts';

export interface Offer {
  readonly stage: number;
  readonly workflow: number;
  readonly priority: number;
  readonly depth: number;
  /** It collects whole stages, so "is anything further up unsettled" is a question about stages. */
  readonly whole: boolean;
  /** How many entities (of a job: tasks) of its workflow may be worked on at once. */
  readonly most: number | null;
  readonly countsStates: boolean;
  readonly maxWaitMs: number | null;
  readonly omitsFailed: boolean;
  readonly kinds: readonly ('ready' | 'lenient' | 'orphaned')[];
}

/** By itself: how several fit beside each other is the runner's business. */
export function fits({ stage, target, of }: PlacedStage, { targets, free, labels }: ClaimBody): boolean {
  const { cores, memoryBytes, gpu, slots } = stage.resources;
  const demanded = Object.entries(of.workflow.targets[stage.target]?.labels ?? {});
  return (
    stage.kind !== 'source' &&
    targets.includes(target) &&
    cores <= free.cores &&
    (free.memory_bytes === null || memoryBytes <= free.memory_bytes) &&
    gpu <= free.gpu &&
    Object.entries(slots).every(([pool, wanted]) => wanted <= (free.pools[pool] ?? 0)) &&
    demanded.every(([name, value]) => labels[name] === value)
  );
}

export function offerOf({ id, of, stage, depth }: PlacedStage): Offer {
  const { workflow } = of;
  const collects = stage.deps.some(({ binding, path }) => binding === 'collected' || path.endsWith('/'));
  const { maxWaitMs, onFailed } = stage.collect;
  const omitsFailed = onFailed === 'omit';
  const isLenient = maxWaitMs !== null || omitsFailed;
  const isCleaned = workflow.policy.onSourceRemoved === 'clean';
  return {
    stage: id,
    workflow: of.id,
    priority: stage.priority,
    depth,
    whole: collects && stage.variables.length === 0 && stage.fanOut === null && !isLenient,
    most: workflow.maxConcurrent,
    countsStates: workflow.frontEnd === 'job',
    maxWaitMs,
    omitsFailed,
    kinds: [
      'ready',
      ...(isLenient ? (['lenient'] as const) : []),
      ...(isCleaned ? (['orphaned'] as const) : []),
    ],
  };
}
