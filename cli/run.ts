// `sluice run FILE`: looks, decides, runs what is stale on this machine, says why, and writes the lock file.

import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadBlake3 } from '../host/blake3.ts';
import { ignoreRule } from '../host/ignore.ts';
import { type Ownership, takeOwnership } from '../host/owner.ts';
import { createPathHasher } from '../host/path-hash.ts';
import { projectRootOf } from '../host/project-root.ts';
import { StatCache } from '../host/stat-cache.ts';
import { openJournal } from '../runner/journal.ts';
import { endLeftovers } from '../runner/leftovers.ts';
import { createSupervisor } from '../runner/supervisor.ts';
import { workBase } from '../runner/work-dir.ts';
import { shown } from '../schema/diagnostic.ts';
import { missingFeatures } from '../schema/features.ts';
import type { Pattern } from '../schema/pattern.ts';
import type { Workflow } from '../schema/workflow.ts';
import { scan } from '../watcher/scan.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, type Io, list, text } from './command.ts';
import { loadFile, stemOf } from './load-file.ts';
import { readOverrides } from './overrides.ts';
import { renderRun, renderState } from './render/run.ts';
import { LockRecords } from './run/lock-records.ts';
import { MadeOutputs } from './run/made-outputs.ts';
import { makeState } from './run/make-state.ts';
import { runWorkflow, type StateResult } from './run/run-workflow.ts';
import { Saving } from './run/saving.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const loaded = loadFile(positionals[0]!, io, readOverrides(list(values, 'set'), positionals[0]!, io));
  refuseMissing(loaded.workflow, positionals[0]!);
  const project = projectRootOf(dirname(loaded.path));
  const owner = await own(join(project, '.sluice', 'owner.db'), loaded.workflow, io);
  try {
    const options = { force: flag(values, 'force'), jobs: jobsOf(text(values, 'jobs')) };
    const begun = performance.now();
    const results = await runHere({ ...loaded, ...options, project, io });
    const seconds = (performance.now() - begun) / 1_000;
    const all = flag(values, 'all');
    io.stdout.write(
      renderRun({ workflow: loaded.workflow, results, seconds }, io, { json: flag(values, 'json'), all }),
    );
    return results.every(({ status }) => status === 'completed' || status === 'cached')
      ? EXIT.done
      : EXIT.failed;
  } finally {
    owner.release();
  }
}

interface Here extends Pick<ReturnType<typeof loadFile>, 'workflow' | 'dag' | 'path'> {
  readonly force: boolean;
  readonly jobs: number;
  /** The directory that has `.sluice/`. */
  readonly project: string;
  readonly io: Io;
}

async function runHere({
  workflow,
  dag,
  path,
  force,
  jobs,
  project,
  io,
}: Here): Promise<readonly StateResult[]> {
  const root = dirname(path);
  const own = join(project, '.sluice');
  const blake3 = loadBlake3();
  const nowMs = Date.now;
  const cache = new StatCache({ path: join(own, 'stat-cache'), hash: blake3.hash, nowMs });
  // The files that every run writes beside the workflow must not make a dep on `./` stale.
  const beside = [`${stemOf(path)}.lock.yaml`, `${stemOf(path)}.events.jsonl`];
  const ignore = ignoreRule([...workflow.watch.ignore, ...beside]);
  const hasher = createPathHasher({ blake3, cache, nowMs, ignore });
  const lock = new LockRecords(join(root, `${stemOf(path)}.lock.yaml`), workflow, blake3.hash);
  const made = new MadeOutputs(join(own, 'made', `${encodeURIComponent(relative(project, path))}.json`));
  const journal = join(own, 'journal');
  await endLeftovers(journal);
  const opened = openJournal(journal);
  const supervisor = createSupervisor(opened);
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const make = { workflow, root, supervisor, hash: blake3.hash, env: io.env, signal: interrupt.signal };
  const base = workBase({ root: project, workflowDir: root, policyWorkDir: workflow.policy.workDir });
  const save = () => {
    made.save();
    lock.save(nowMs());
  };
  const saving = new Saving(save);
  try {
    return await runWorkflow({
      ...{ workflow, dag, root, hash: blake3.hash, hasher, lock, made, force, jobs, nowMs },
      signal: interrupt.signal,
      list: (pattern) => listOnDisk(pattern, root, ignore),
      make: (state) => {
        const { action } = state.stage;
        if (action.kind !== 'shell') throw new Error(`${action.kind} was not refused`);
        return makeState(state, action, { ...make, workBase: base });
      },
      recorded: () => saving.soon(),
      stageDone: () => saving.now(),
      report: (result) => void io.stderr.write(renderState(result, io)),
    });
  } finally {
    saving.now();
    cache.save();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await supervisor.close();
    opened.close();
  }
}

function listOnDisk(
  pattern: Pattern,
  root: string,
  ignore: ReturnType<typeof ignoreRule>,
): readonly string[] {
  const { found, problems } = scan({ patterns: [pattern], root, ignore });
  const [problem] = problems;
  if (problem !== undefined) {
    throw new CliError({
      code: 'unusable-path',
      message: `${shown(problem.path)}: ${problem.reason}`,
      hint: 'mend it or move it out of the way, and run again',
    });
  }
  return found.map(({ path }) => (pattern.absolute ? path : relative(root, path)));
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

function jobsOf(written: string | undefined): number {
  if (written === undefined) return availableParallelism();
  const jobs = Number(written);
  if (Number.isInteger(jobs) && jobs > 0) return jobs;
  throw new CliError({
    code: 'bad-jobs',
    message: `--jobs ${shown(written)} is not a number of commands`,
    hint: 'write a whole number from 1, for example --jobs 4',
  });
}
