// How the states of one workflow are made on this machine: the one place where that is put together, for `run`, which
// makes a workflow once, and for those that go on for months.

import { Manifests } from '../runner/manifest.ts';
import { whyPrivate } from '../runner/nodes/address.ts';
import { resolveHost } from '../runner/nodes/send-http.ts';
import { type PerformContext, performWork } from '../runner/perform-work.ts';
import type { Performed } from '../runner/performed.ts';
import { workBase } from '../runner/work-dir.ts';
import type { Claimed } from '../schema/wire.ts';
import type { Workflow } from '../schema/workflow.ts';
import type { Machine } from './run/machine.ts';
import type { Recipes } from './run/recipes.ts';

export interface PerformPlace
  extends Pick<PerformContext, 'isMine' | 'starting' | 'remadeBy' | 'hasLockFile'> {
  readonly workflow: Workflow;
  /** The workflow's directory. */
  readonly root: string;
  /** `.sluice/` of the project, or the place of its own that a runner has: commands work in it. */
  readonly own: string;
  readonly denyPrivate?: boolean;
  readonly logs?: PerformContext['logs'];
  readonly machine: Pick<Machine, 'hash' | 'hasher' | 'list' | 'supervisor' | 'secretOf'>;
  readonly recipes: Recipes;
  readonly env: PerformContext['env'];
}

export type Perform = (items: readonly Claimed[], signal: AbortSignal) => Promise<readonly Performed[]>;

export function performingOf(place: PerformPlace): Perform {
  const { workflow, root, own, machine, recipes } = place;
  const context: Omit<PerformContext, 'hasLockFile' | 'signal'> = {
    ...{ workflow, root, env: place.env },
    ...{ hash: machine.hash, hasher: machine.hasher, list: machine.list, supervisor: machine.supervisor },
    secretOf: machine.secretOf,
    logs: place.logs ?? null,
    http: { resolve: resolveHost, refuse: place.denyPrivate ? whyPrivate : null },
    workBase: workBase({ own, workflowDir: root, policyWorkDir: workflow.policy.workDir }),
    manifests: new Manifests(),
    recipe: (hash) => recipes.find(hash),
    ...{ isMine: place.isMine, starting: place.starting, remadeBy: place.remadeBy },
  };
  return async (items, signal) =>
    // Written by us, a lock file is there for whoever looks later.
    recipes.attach(await performWork(items, { ...context, signal, hasLockFile: place.hasLockFile }));
}
