// Where the states of a workflow worked, and what their commands left there.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadBlake3 } from '../host/blake3.ts';
import { projectRootOf } from '../host/project-root.ts';
import { FILES } from '../runner/launch-script.ts';
import { tailOf } from '../runner/log-tail.ts';
import { workDirFor } from '../runner/make-state.ts';
import { workBase } from '../runner/work-dir.ts';
import type { LoadedWorkflow } from './load-file.ts';

export interface WorkLeft {
  readonly workDir: string;
  /** Null if nothing was written down: a program of a job, or a node. */
  readonly command: string | null;
  /** Null if it never ended by itself. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function workBaseOf({ path, workflow }: LoadedWorkflow): string {
  const workflowDir = dirname(path);
  return workBase({
    own: join(projectRootOf(workflowDir), '.sluice'),
    workflowDir,
    policyWorkDir: workflow.policy.workDir,
  });
}

/** From a state to its work directory, whether it is there or not. */
export function workDirs(loaded: LoadedWorkflow): (stage: string, entity: string) => string {
  const context = { workBase: workBaseOf(loaded), workflow: loaded.workflow, hash: loadBlake3().hash };
  return (stage, entity) => workDirFor(context, stage, entity);
}

/** Null if there is no such directory. */
export function readWork(workDir: string, tailBytes = 4_000): WorkLeft | null {
  if (!existsSync(workDir)) return null;
  const exitCode = readIfThere(join(workDir, FILES.exitCode));
  return {
    workDir,
    command: readIfThere(join(workDir, FILES.script)),
    exitCode: exitCode === null ? null : Number(exitCode),
    stdout: tailOf(workDir, 'stdout', tailBytes),
    stderr: tailOf(workDir, 'stderr', tailBytes),
  };
}

function readIfThere(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
