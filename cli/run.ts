// `sluice run FILE`: looks, decides, runs what is stale on this machine, says why, and writes the lock file.

import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ownership, readOwnerNote, takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import type { Capacity } from '../runner/capacity.ts';
import { shown } from '../schema/diagnostic.ts';
import { LOCAL } from '../schema/words.ts';
import type { Workflow } from '../schema/workflow.ts';
import { askedState } from './asked-state.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, type Io, list, text } from './command.ts';
import { loadFile } from './load-file.ts';
import { filesOf, keepTrees } from './lock/keep-trees.ts';
import { readOverrides } from './overrides.ts';
import { refuseMissing } from './refuse-missing.ts';
import { renderGitFiles } from './render/git-files.ts';
import { progressTerminal, TerminalProgress } from './render/live-progress.ts';
import { renderRun, renderState, renderWarning } from './render/run.ts';
import type { Changed } from './run/clean-place.ts';
import { withFailureText } from './run/failure-text.ts';
import { gitFiles } from './run/git-files.ts';
import { jobsOf } from './run/jobs.ts';
import { runHere } from './run/run-here.ts';
import { readWork, workDirs } from './work-dirs.ts';

export async function run(
  { values, positionals, io }: Invocation,
  changed: Changed | null = null,
): Promise<ExitCode> {
  const file = positionals[0]!;
  const set = readOverrides(list(values, 'set'), file, io);
  const loaded = loadFile(file, io, set);
  refuseMissing(loaded.workflow, file);
  const stage = stageAsked(loaded.workflow, text(values, 'stage'));
  const capacity = capacityOf(loaded.workflow, jobsOf(text(values, 'jobs')));
  if (flag(values, 'dry-run')) {
    const { dryRun } = await import('./dry-run.ts');
    const force = flag(values, 'force');
    return dryRun({ loaded, set: set ?? {}, stage, force, json: flag(values, 'json'), io });
  }
  const project = projectRootOf(dirname(loaded.path));
  const owner = await own(join(project, '.sluice', 'owner.db'), loaded.workflow, io);
  const json = flag(values, 'json');
  const terminal = progressTerminal(io, { json });
  const progress = terminal === null ? null : new TerminalProgress(terminal, io.color);
  const tell = (text: string) => void (progress === null ? io.stderr.write(text) : progress.print(text));
  const workDirOf = workDirs(loaded);
  const workOf = (id: string, entity: string) => readWork(workDirOf(id, entity));
  const forGit = gitFiles(loaded);
  try {
    const all = flag(values, 'all');
    const outcome = await runHere({
      ...{ loaded, project, set: set ?? {}, stage, force: flag(values, 'force'), changed, all, capacity, io },
      report: (result) => tell(renderState(withFailureText(result, { file, workOf }), io)),
      warn: (warning) => tell(renderWarning(warning, io)),
      progress,
    });
    progress?.close();
    const { name } = loaded.workflow;
    io.stdout.write(renderRun({ name, ...outcome }, io, { json, all }));
    const made = outcome.results.filter(({ status }) => status === 'completed');
    keepTrees(filesOf(loaded, made), { loaded });
    const isNews = forGit.isLockChanged() || outcome.results.some(({ status }) => status !== 'cached');
    if (!json && isNews) io.stdout.write(renderGitFiles(forGit.changed(), io));
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
    const url = readOwnerNote(join(dirname(file), 'owner.json'))?.url;
    if (url !== undefined) throw keptElsewhere(url);
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

/** It never ends by itself, so there is nothing to wait for. */
function keptElsewhere(url: string): CliError {
  return new CliError({
    code: 'kept-elsewhere',
    message: `another sluice keeps this project, on ${url}`,
    hint: 'under `sluice up` what is stale is made without asking, and `sluice status` tells; stop it to run by hand',
    exitCode: EXIT.locked,
  });
}

/** A run's scope is made of whole stages. */
function stageAsked({ stages }: Workflow, written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const { stage, entity } = askedState(written, stages);
  if (entity === null) return stage.id;
  throw new CliError({
    code: 'one-state',
    message: `--stage ${shown(written)} names one state, and a run makes whole stages`,
    hint: `write --stage '${shown(stage.id)}': what is fresh in it is not made again`,
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
