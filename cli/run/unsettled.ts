// Why the states that a run leaves unsettled were not made: something before them failed, a file is missing, or the
// run was stopped.

import { existsSync } from 'node:fs';
import { type StateFiles, stateFiles } from '../../runner/state-files.ts';
import type { Dag } from '../../schema/dag.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { nameOf, type StateResult, skippedFor } from './results.ts';
import type { NamedState } from './state-key.ts';

export interface UnsettledContext {
  readonly workflow: Workflow;
  readonly dag: Dag;
  readonly root: string;
  readonly list: Parameters<typeof stateFiles>[2]['list'];
  /** Of those that were tried. */
  readonly results: readonly StateResult[];
  readonly isStopped: boolean;
}

export function unsettledResults(states: readonly StateAnswer[], context: UnsettledContext): StateResult[] {
  const { dag, results, isStopped } = context;
  const tried = results.filter(({ status }) => status === 'failed' || status === 'waiting');
  const failed = new UnmadeOuts(tried.map((each) => filesOf(each, context)));
  return inOrderOf(dag, states).map((state): StateResult => {
    const files = filesOf(state, context);
    const how = reasonFor(files, state, { failed, isStopped, dag });
    failed.add(files);
    return { ...namesOf(files), ...how, error: null, seconds: 0 };
  });
}

/** Of states that are settled as skipped, those that lack what was not made because a condition is false. */
export function passedOverResults(states: readonly StateAnswer[], context: UnsettledContext): StateResult[] {
  const tried = context.results.filter(({ isWanted }) => isWanted);
  const skipped = new UnmadeOuts(tried.map((each) => filesOf(each, context)));
  return inOrderOf(context.dag, states).flatMap((state): StateResult[] => {
    const files = filesOf(state, context);
    const makers = skipped.before(files);
    if (makers.length === 0) return [];
    skipped.add(files);
    return [{ ...namesOf(files), ...skippedFor(`${makers.join(', ')} made nothing for it`) }];
  });
}

/** Topological, so that what waits for something skipped is skipped too. */
function inOrderOf(dag: Dag, states: readonly StateAnswer[]): StateAnswer[] {
  const position = new Map(dag.order.map((id, i) => [id as string, i]));
  return [...states].sort((a, b) => (position.get(a.stage) ?? 0) - (position.get(b.stage) ?? 0));
}

function filesOf({ stage: id, entity }: NamedState, context: UnsettledContext): StateFiles {
  const stage = context.workflow.stages.find((each) => each.id === id)!;
  return stateFiles(stage, entity as EntityId, context);
}

function namesOf({ stage, entity }: StateFiles): Pick<StateResult, 'name' | 'stage' | 'entity'> {
  return { name: nameOf(stage, entity), stage: stage.id, entity };
}

interface Around {
  readonly failed: UnmadeOuts;
  readonly isStopped: boolean;
  readonly dag: Dag;
}

function reasonFor(
  files: StateFiles,
  state: StateAnswer,
  { failed, isStopped, dag }: Around,
): Pick<StateResult, 'status' | 'reasons'> {
  const makers = failed.before(files, dag);
  if (makers.length > 0) return { status: 'skipped', reasons: [`waits for ${makers.join(', ')}`] };
  if (state.next_retry_at !== null && state.status === 'failed')
    return {
      status: 'waiting',
      reasons: [`failed (${firstLine(state.error ?? '')}); next attempt at ${state.next_retry_at}`],
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

function firstLine(text: string): string {
  return text.split('\n')[0]!;
}

/** Whose outputs are not to be relied on, and by which stage. */
class UnmadeOuts {
  readonly #byPath = new Map<string, string>();
  readonly #stages = new Set<string>();

  constructor(states: readonly StateFiles[]) {
    for (const files of states) this.add(files);
  }

  add({ stage, outs }: StateFiles): void {
    this.#stages.add(stage.id);
    for (const { path } of outs) this.#byPath.set(path, stage.id);
  }

  /** With a dag also those whose members a collection waits for: what is not there has no path to go by. */
  before({ stage, inputs }: StateFiles, dag?: Dag): string[] {
    const collects = dag !== undefined && inputs.some(({ collected }) => collected);
    const stages = collects ? [...stage.after, ...(dag.upstream.get(stage.id) ?? [])] : stage.after;
    const makers = new Set<string>(stages.filter((id) => this.#stages.has(id)));
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
