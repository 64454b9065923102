// How each state of a run came out, in the words that a person and a script read.

import { shown } from '../../schema/diagnostic.ts';
import { bindingsOf } from '../../schema/discovery/registry.ts';
import { stateName } from '../../schema/reason.ts';
import type { EntityId, StageId } from '../../schema/words.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';

export interface StateResult {
  /** As a person reads it: `count_river` for the entity `river` of `count_{text}`. */
  readonly name: string;
  readonly stage: StageId;
  readonly entity: EntityId;
  readonly status: 'completed' | 'cached' | 'failed' | 'skipped' | 'waiting';
  /** Skipped because a condition is false, and not because something failed: nothing is wrong with it. */
  readonly isWanted?: true;
  readonly reasons: readonly string[];
  readonly error: string | null;
  readonly seconds: number;
}

/** Of a state whose condition is false, or that lacks what such a one did not make. */
export function skippedFor(because: string) {
  return { status: 'skipped' as const, isWanted: true as const, reasons: [because], error: null, seconds: 0 };
}

/** Whether a run in which a state came out like this may be called completed. */
export function isGood({ status, isWanted }: Pick<StateResult, 'status' | 'isWanted'>): boolean {
  return status === 'completed' || status === 'cached' || isWanted === true;
}

/** SEMANTICS 12: a stage whose name has all of its variables is shown with their values in place. */
export function nameOf(stage: Stage, entity: EntityId): string {
  const { id, variables, fanOut } = stage;
  if (fanOut !== null || variables.length === 0 || !variables.every((name) => id.includes(`{${name}}`)))
    return stateName(id, entity);
  const bindings = bindingsOf(stage, entity);
  return shown(
    variables.reduce<string>((name, each) => name.replace(`{${each}}`, () => bindings[each]!), id),
  );
}

/** In the order of the file, entities by code point. */
export function inOrder(results: Iterable<StateResult>, { stages }: Workflow): StateResult[] {
  const position = new Map(stages.map(({ id }, i) => [id, i]));
  return [...results].sort(
    (a, b) =>
      position.get(a.stage)! - position.get(b.stage)! ||
      (a.entity < b.entity ? -1 : a.entity > b.entity ? 1 : 0),
  );
}
