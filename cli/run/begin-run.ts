// Begins a run: tells the control plane its scope, refuses what cannot fit on this machine, and logs that it began.

import { answerOf } from '../../host/client.ts';
import { neverFits } from '../../runner/capacity.ts';
import { CliError, EXIT } from '../command.ts';
import type { RunParts } from './run-parts.ts';
import { refuseUnknownState } from './run-scope.ts';
import { now } from './state-key.ts';

declare const SLUICE_VERSION: string;

export interface Begun {
  readonly id: string;
  /** In scope. */
  readonly stages: readonly string[];
}

export async function beginRun({ request, tools, ask, kept, log }: RunParts): Promise<Begun> {
  const { force, stage, entity, loaded, capacity } = request;
  await refuseUnknownState(ask, request);
  const { name } = loaded.workflow;
  const runs = tools.client.api.workflows[':name{[^]+}'].runs;
  const json = {
    force,
    cause: 'sluice run',
    ...(stage === undefined ? {} : { stage }),
    ...(entity === undefined ? {} : { entity }),
  };
  const run = await answerOf(runs.$post({ param: { name: encodeURIComponent(name) }, json }));
  for (const id of run.stages) {
    const problem = neverFits(kept.stages.get(id)!, capacity);
    if (problem !== null) throw tooSmall(problem);
  }
  log.append({
    ...{ ts: now(), event: 'run_started' as const, playbook: name, run_id: run.id },
    sluice_version: SLUICE_VERSION,
  });
  log.flush();
  return run;
}

function tooSmall(problem: string): CliError {
  return new CliError({
    code: 'too-small',
    message: problem,
    hint: 'give more with --jobs or --pool NAME=N, say what the machine has under targets, or ask for less',
    exitCode: EXIT.failed,
  });
}
