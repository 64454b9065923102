// Between what the control plane says and where things are on this machine: a definition whose roots are those here,
// claims with paths of this disk, and results with the paths that are registered.

import { type RootOption, type RootPair, rootPairOf, toHere, toRegistered } from '../host/roots.ts';
import { rootOn } from '../schema/discovery/place.ts';
import type { Claimed } from '../schema/wire.ts';
import type { TargetName } from '../schema/words.ts';
import type { Target, Workflow } from '../schema/workflow.ts';
import type { Performed } from './performed.ts';

export interface PlacedWorkflow {
  readonly workflow: Workflow;
  readonly roots: RootPair;
}

/** `target` as the stages in question write it; all others stay where they are registered. */
export function placeWorkflow(
  workflow: Workflow,
  place: { readonly root: string; readonly target: TargetName; readonly options: readonly RootOption[] },
): PlacedWorkflow {
  const { root, target, options } = place;
  const registered = rootOn({ root, workflow }, target);
  const roots = rootPairOf(workflow.name, registered, options);
  const named = new Set([...Object.keys(workflow.targets), ...workflow.stages.flatMap(targetsOf), target]);
  const targets = Object.fromEntries(
    [...named].map((name): [string, Target] => {
      const at = rootOn({ root, workflow }, name as TargetName);
      return [name, { ...UNKNOWN, ...workflow.targets[name], root: name === target ? roots.here : at }];
    }),
  );
  return { workflow: { ...workflow, targets }, roots };
}

const UNKNOWN: Target = {
  ...{ host: 'localhost', sshUser: null, root: null },
  ...{ cores: null, memoryBytes: null, gpu: null, labels: {} },
};

function targetsOf({ target, outs }: Workflow['stages'][number]): string[] {
  return [target, ...outs.flatMap(({ remote }) => remote ?? [])];
}

export function claimedHere(item: Claimed, roots: RootPair): Claimed {
  if (roots.here === roots.registered) return item;
  const records = item.records.map((record) => ({
    ...record,
    outs: (record.outs as { path: string }[]).map((out) => ({ ...out, path: toHere(out.path, roots) })),
  }));
  return { ...item, root: roots.here, records };
}

export function performedThere(performed: Performed, roots: RootPair): Performed {
  if (roots.here === roots.registered) return performed;
  const there = <At extends { readonly path: string }>(places: readonly At[] | undefined) =>
    places?.map((each) => ({ ...each, path: toRegistered(each.path, roots) }));
  const observations = there(performed.observations)!;
  const { post } = performed;
  if (post.kind !== 'complete') return { ...performed, observations };
  const { consumed, outs } = post.item;
  const item = {
    ...post.item,
    ...(consumed === undefined ? {} : { consumed: there(consumed)! }),
    ...(outs === undefined ? {} : { outs: there(outs)! }),
  };
  return { ...performed, observations, post: { ...post, item } };
}
