// What a new definition of a workflow means for the states that its old one had.

import type { Reason } from '../reason.ts';
import type { Json } from '../words.ts';
import type { Stage, Workflow } from '../workflow.ts';

export interface DefinitionChanges {
  /** In the old definition only. */
  readonly removed: readonly string[];
  /** Other paths, entities or machine: which states exist, and what they read, has to be found anew. */
  readonly rewired: readonly string[];
  /** The same states, made in another way. */
  readonly changed: readonly { readonly stage: string; readonly reasons: readonly Reason[] }[];
  readonly added: readonly string[];
}

export function compareDefinitions(old: Workflow | null, now: Workflow): DefinitionChanges {
  const before = new Map((old?.stages ?? []).map((stage) => [stage.id as string, stage]));
  const after = new Set<string>(now.stages.map(({ id }) => id));
  const kept = now.stages.filter(({ id }) => before.has(id));
  const rewired = kept.filter((stage) => wiringOf(stage) !== wiringOf(before.get(stage.id)!));
  const same = kept.filter((stage) => !rewired.includes(stage));
  return {
    removed: [...before.keys()].filter((id) => !after.has(id)),
    rewired: rewired.map(({ id }) => id),
    changed: same
      .map((stage) => ({ stage: stage.id, reasons: reasonsFor(old!, now, stage) }))
      .filter(({ reasons }) => reasons.length > 0),
    added: now.stages.filter(({ id }) => !before.has(id)).map(({ id }) => id),
  };
}

function wiringOf({
  kind,
  deps,
  outs,
  variables,
  driver,
  fanOut,
  target,
  frozen,
  after,
  filter,
  code,
}: Stage): string {
  return JSON.stringify([kind, deps, outs, variables, driver, fanOut, target, frozen, after, filter, code]);
}

/** Only what enters a key: more retries or cores make nothing stale. */
function reasonsFor(old: Workflow, now: Workflow, stage: Stage): Reason[] {
  const was = old.stages.find(({ id }) => id === stage.id)!;
  const isSameAction = JSON.stringify([was.action, was.code]) === JSON.stringify([stage.action, stage.code]);
  const reasons: Reason[] = isSameAction ? [] : [{ reason: 'cmd-changed' }];
  for (const name of new Set([...was.params, ...stage.params])) {
    const [before, after] = [paramOf(old, was, name), paramOf(now, stage, name)];
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    reasons.push({
      reason: 'param-changed',
      name,
      ...(before === undefined ? {} : { old: before }),
      ...(after === undefined ? {} : { now: after }),
    });
  }
  return reasons;
}

function paramOf({ params }: Workflow, stage: Stage, name: string): Json | undefined {
  return stage.params.includes(name) && Object.hasOwn(params, name) ? params[name] : undefined;
}
