// `sluice run FILE`: looks, decides, runs what is stale on this machine, says why, and writes the lock file.

import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ownership, takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import type { Capacity } from '../runner/capacity.ts';
import { shown, suggest } from '../schema/diagnostic.ts';
import { missingFeatures } from '../schema/features.ts';
import { LOCAL } from '../schema/words.ts';
import type { Workflow } from '../schema/workflow.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, type Io, list, text } from './command.ts';
import { loadFile } from './load-file.ts';
import { readOverrides } from './overrides.ts';
import { progressTerminal, TerminalProgress } from './render/live-progress.ts';
import { renderRun, renderState, renderWarning } from './render/run.ts';
import { runHere } from './run/run-here.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const file = positionals[0]!;
  const set = readOverrides(list(values, 'set'), file, io);
  const loaded = loadFile(file, io, set);
  refuseMissing(loaded.workflow, file);
  const stage = stageAsked(loaded.workflow, text(values, 'stage'));
  const capacity = capacityOf(loaded.workflow, jobsOf(text(values, 'jobs')));
  const project = projectRootOf(dirname(loaded.path));
  const owner = await own(join(project, '.sluice', 'owner.db'), loaded.workflow, io);
  const json = flag(values, 'json');
  const terminal = progressTerminal(io, { json });
  const progress = terminal === null ? null : new TerminalProgress(terminal, io.color);
  const tell = (text: string) => void (progress === null ? io.stderr.write(text) : progress.print(text));
  try {
    const all = flag(values, 'all');
    const outcome = await runHere({
      ...{ loaded, project, set: set ?? {}, stage, force: flag(values, 'force'), all, capacity, io },
      report: (result) => tell(renderState(result, io)),
      warn: (warning) => tell(renderWarning(warning, io)),
      progress,
    });
    progress?.close();
    const { workflow } = loaded;
    io.stdout.write(renderRun({ workflow, ...outcome }, io, { json, all }));
    const isGood = outcome.results.every(({ status }) => status === 'completed' || status === 'cached');
    return isGood ? EXIT.done : EXIT.failed;
  } finally {
    progress?.close();
    owner.release();
  }
}

async function own(file: string, { policy }: Workflow, io: Io): Promise<Ownership> {
  for (let waited = false; ; waited = true) {
    const owner = takeOwnership(file);
    if (owner !== null) return owner;
    if (policy.concurrency === 'fail') {
      throw new CliError({
        code: 'run-in-progress',
        message: 'another sluice is working here',
        hint: 'wait for it to end, or set policy.concurrency: wait',
        exitCode: EXIT.locked,
      });
    }
    if (!waited) io.stderr.write('another sluice is working here; waiting for it to end\n');
    await pause(100);
  }
}

function refuseMissing(workflow: Workflow, file: string): void {
  const missing = missingFeatures(workflow);
  if (missing.length === 0) return;
  const lines = missing.map(
    ({ feature, stage }) => `${feature}${stage === null ? '' : ` (stage '${shown(stage)}')`}`,
  );
  throw new CliError({
    code: 'not-built-yet',
    message: `${shown(file)} asks for what run cannot do yet: ${lines.join(', ')}`,
    hint: 'nothing was run; remove it, or wait for a later version',
    exitCode: EXIT.failed,
  });
}

function stageAsked({ stages }: Workflow, asked: string | undefined): string | undefined {
  if (asked === undefined || stages.some(({ id }) => id === asked)) return asked;
  throw new CliError({
    code: 'unknown-stage',
    message: `there is no stage '${shown(asked)}'`,
    hint: suggest(
      asked,
      stages.map(({ id }) => id as string),
    ),
  });
}

/** What the file says this machine has; cores are what was asked for on the command line, else all of them. */
function capacityOf({ targets }: Workflow, jobs: number | undefined): Capacity {
  const here = targets[LOCAL] ?? Object.values(targets).find(({ host }) => host === 'localhost');
  return {
    cores: jobs ?? here?.cores ?? availableParallelism(),
    memoryBytes: here?.memoryBytes ?? null,
    gpu: here?.gpu ?? 0,
    pools: {},
  };
}

function jobsOf(written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const jobs = Number(written);
  if (Number.isInteger(jobs) && jobs > 0) return jobs;
  throw new CliError({
    code: 'bad-jobs',
    message: `--jobs ${shown(written)} is not a number of commands`,
    hint: 'write a whole number from 1, for example --jobs 4',
  });
}
