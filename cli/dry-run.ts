// `sluice run FILE --dry-run`: what a run would make and why; only what is known about the disk changes.

import { scopeOf } from '../api/store/start-run.ts';
import type { Json, StageId } from '../schema/words.ts';
import { CliError, EXIT, type ExitCode, type Io } from './command.ts';
import type { LoadedWorkflow } from './load-file.ts';
import { checkStale, remembered } from './look/check-stale.ts';
import { type Here, lookHere } from './look/look-here.ts';
import { type Plan, planRun } from './look/plan-run.ts';
import { explained } from './refused.ts';
import { renderPlan } from './render/plan.ts';
import { register } from './run/look.ts';
import { onlyOf, readScope, refuseUnknownState } from './run/run-scope.ts';

export interface DryRunRequest {
  readonly loaded: LoadedWorkflow;
  readonly set: Readonly<Record<string, Json>>;
  readonly stage: string | undefined;
  readonly entity: string | undefined;
  readonly force: boolean;
  readonly json: boolean;
  readonly io: Io;
}

export async function dryRun(request: DryRunRequest): Promise<ExitCode> {
  const { loaded, set, io, json } = request;
  const here = await lookHere(loaded, { io, set });
  if (here === null) throw busy();
  try {
    const plan = await planHere(here, request);
    // The params of a run that did not happen are not the workflow's.
    if (Object.keys(set).length > 0) await register({ ...here, set: {} });
    io.stdout.write(renderPlan(loaded.workflow.name, plan, io, json));
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await here.close();
  }
}

async function planHere(here: Here, request: DryRunRequest): Promise<Plan> {
  const { loaded, stage, force } = request;
  const { workflow, dag } = loaded;
  await refuseUnknownState(here.ask, request);
  const scope = scopeOf(workflow, stage as StageId | undefined, force);
  const only = onlyOf(workflow.name, request);
  const unmade = await checkStale(here, scope.scope, only);
  const inScope = await readScope(here.ask, request, scope.scope);
  const states = inScope.states ?? (await here.ask.states({})).filter(inScope.has);
  const files = { workflow, root: here.root, list: remembered(here.machine.list) };
  return planRun({ scope, states, unmade, dag, files });
}

function busy(): CliError {
  return new CliError({
    code: 'run-in-progress',
    message: 'another sluice is working here, so what a run would do is changing',
    hint: 'ask it with `sluice status`, or wait for it to end',
    exitCode: EXIT.locked,
  });
}
