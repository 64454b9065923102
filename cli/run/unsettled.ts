// Why the states that a run leaves unsettled were not made: something before them failed, a file is missing, or the
// run was stopped.

import { existsSync } from 'node:fs';
import { type StateFiles, stateFiles } from '../../runner/state-files.ts';
import type { Dag } from '../../schema/dag.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { nameOf, type StateResult } from './results.ts';

export interface UnsettledContext {
  readonly workflow: Workflow;
  readonly dag: Dag;
  readonly root: string;
  readonly list: Parameters<typeof stateFiles>[2]['list'];
  /** Of those that were tried. */
  readonly results: readonly StateResult[];
  readonly isStopped: boolean;
}

/** In topological order, so that what waits for something skipped is skipped too. */
export function unsettledResults(states: readonly StateAnswer[], context: UnsettledContext): StateResult[] {
  const { workflow, dag, results, isStopped } = context;
  const position = new Map(dag.order.map((id, i) => [id as string, i]));
  const stages = new Map(workflow.stages.map((stage) => [stage.id as string, stage]));
  const failed = new FailedOuts();
  for (const { stage, entity, status } of results)
    if (status === 'failed') failed.add(stateFiles(stages.get(stage)!, entity, context));
  const ordered = [...states].sort((a, b) => (position.get(a.stage) ?? 0) - (position.get(b.stage) ?? 0));
  return ordered.map((state): StateResult => {
    const stage = stages.get(state.stage)!;
    const files = stateFiles(stage, state.entity as EntityId, context);
    const how = reasonFor(files, state, { failed, isStopped });
    failed.add(files);
    const entity = state.entity as EntityId;
    return { name: nameOf(stage, entity), stage: stage.id, entity, ...how, error: null, seconds: 0 };
  });
}

interface Around {
  readonly failed: FailedOuts;
  readonly isStopped: boolean;
}

function reasonFor(
  files: StateFiles,
  state: StateAnswer,
  { failed, isStopped }: Around,
): Pick<StateResult, 'status' | 'reasons'> {
  const makers = failed.before(files);
  if (makers.length > 0) return { status: 'skipped', reasons: [`waits for ${makers.join(', ')}`] };
  if (state.next_retry_at !== null && state.status === 'failed')
    return {
      status: 'waiting',
      reasons: [`failed (${state.error}); next attempt at ${state.next_retry_at}`],
    };
  const missing = files.inputs.flatMap(({ name, collected, paths }) =>
    collected
      ? paths.length === 0
        ? [name]
        : []
      : paths.filter((path) => !existsSync(path)).map(() => name),
  );
  if (missing.length > 0) return { status: 'waiting', reasons: [`missing ${missing.join(', ')}`] };
  if (isStopped) return { status: 'skipped', reasons: ['the run was stopped before it'] };
  return {
    status: 'waiting',
    reasons: state.reasons.length > 0 ? state.reasons : ['something it needs is not settled'],
  };
}

/** Whose outputs are not to be relied on, and by which stage. */
class FailedOuts {
  readonly #byPath = new Map<string, string>();
  readonly #stages = new Set<string>();

  add({ stage, outs }: StateFiles): void {
    this.#stages.add(stage.id);
    for (const { path } of outs) this.#byPath.set(path, stage.id);
  }

  before({ stage, inputs }: StateFiles): string[] {
    const makers = new Set<string>(stage.after.filter((id) => this.#stages.has(id)));
    for (const path of inputs.flatMap(({ paths }) => paths)) {
      const exact = this.#byPath.get(path);
      if (exact !== undefined) makers.add(exact);
      for (const [out, maker] of this.#byPath) {
        if (out.startsWith(`${path}/`) || path.startsWith(`${out}/`)) makers.add(maker);
      }
    }
    return [...makers];
  }
}
