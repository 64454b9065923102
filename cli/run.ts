// `sluice run FILE`: looks, decides, runs what is stale on this machine, says why, and writes the lock file.

import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ownership, readOwnerNote, takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import type { Capacity } from '../runner/capacity.ts';
import { LOCAL } from '../schema/words.ts';
import type { Workflow } from '../schema/workflow.ts';
import { askedState } from './asked-state.ts';
import { poolsAsked } from './capacity-options.ts';
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
import { isGood } from './run/results.ts';
import { runAtOwner } from './run/run-at-owner.ts';
import { runHere } from './run/run-here.ts';
import type { RunRequest } from './run/run-parts.ts';
import { readSecrets, refuseWithoutSecrets } from './secrets.ts';
import { readWork, workDirs } from './work-dirs.ts';

export async function run(
  { values, positionals, io }: Invocation,
  changed: Changed | null = null,
): Promise<ExitCode> {
  const file = positionals[0]!;
  const set = readOverrides(list(values, 'set'), file, io);
  const loaded = loadFile(file, io, set);
  refuseMissing(loaded.workflow, file);
  const secretOf = readSecrets(io, text(values, 'secrets'));
  const asked = text(values, 'stage');
  const { stage, entity } = scopeAsked(loaded.workflow, asked);
  const capacity = capacityOf(loaded.workflow, jobsOf(text(values, 'jobs')), poolsAsked(values));
  if (flag(values, 'dry-run')) {
    const { dryRun } = await import('./dry-run.ts');
    const force = flag(values, 'force');
    return dryRun({ loaded, set: set ?? {}, stage, entity, force, json: flag(values, 'json'), io });
  }
  refuseWithoutSecrets(loaded.workflow, file, secretOf);
  const project = projectRootOf(dirname(loaded.path));
  const ownFolder = join(project, '.sluice');
  const owner = await own(join(ownFolder, 'owner.db'), loaded.workflow, io);
  const json = flag(values, 'json');
  const terminal = progressTerminal(io, { json });
  const progress = terminal === null ? null : new TerminalProgress(terminal, io.color);
  const tell = (text: string) => void (progress === null ? io.stderr.write(text) : progress.print(text));
  const workDirOf = workDirs(loaded);
  const workOf = (id: string, entity: string) => readWork(workDirOf(id, entity));
  const forGit = gitFiles(loaded);
  try {
    const all = flag(values, 'all');
    const request: RunRequest = {
      ...{
        loaded,
        project,
        set: set ?? {},
        asked,
        stage,
        entity,
        force: flag(values, 'force'),
        changed,
        all,
        capacity,
        io,
        secretOf,
      },
      report: (result) => tell(renderState(withFailureText(result, { file, workOf }), io)),
      warn: (warning) => tell(renderWarning(warning, io)),
      progress,
    };
    const outcome = await ('url' in owner
      ? runAtOwner({ ...request, url: owner.url, own: ownFolder })
      : runHere(request));
    progress?.close();
    const { name } = loaded.workflow;
    io.stdout.write(renderRun({ name, ...outcome }, io, { json, all }));
    const made = outcome.results.filter(({ status }) => status === 'completed');
    keepTrees(filesOf(loaded, made), { loaded });
    const isNews = forGit.isLockChanged() || outcome.results.some(({ status }) => status !== 'cached');
    if (!json && isNews) io.stdout.write(renderGitFiles(forGit.changed(), io));
    return outcome.results.every(isGood) ? EXIT.done : EXIT.failed;
  } finally {
    progress?.close();
    if ('release' in owner) owner.release();
  }
}

interface Kept {
  /** Of the process that keeps the project. */
  readonly url: string;
}

async function own(file: string, { policy }: Workflow, io: Io): Promise<Ownership | Kept> {
  for (let waited = false; ; waited = true) {
    const owner = takeOwnership(file);
    if (owner !== null) return owner;
    const url = readOwnerNote(join(dirname(file), 'owner.json'))?.url;
    // It never ends by itself, so there is nothing to wait for.
    if (url !== undefined) return { url };
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

function scopeAsked({ stages }: Workflow, written: string | undefined) {
  if (written === undefined) return { stage: undefined, entity: undefined };
  const { stage, entity } = askedState(written, stages);
  return { stage: stage.id, entity: entity ?? undefined };
}

/** What the file says this machine has; cores are what was asked for on the command line, else all of them. */
function capacityOf({ targets }: Workflow, jobs: number | undefined, pools: Capacity['pools']): Capacity {
  const here = targets[LOCAL] ?? Object.values(targets).find(({ host }) => host === 'localhost');
  return {
    cores: jobs ?? here?.cores ?? availableParallelism(),
    memoryBytes: here?.memoryBytes ?? null,
    gpu: here?.gpu ?? 0,
    pools,
  };
}
