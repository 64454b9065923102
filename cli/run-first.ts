// The quick way of `sluice run`: if nothing has changed since a run that found nothing to do, say so and be done.
//
// It loads next to nothing. Whatever it is not sure about goes the long way, which is `run.ts`.

import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Checked, checkClean } from '../host/clean-snapshot.ts';
import { projectRootOf } from '../host/project-root.ts';
import { EXIT, type ExitCode, flag, type Invocation, list, text } from './command.ts';
import { renderRun } from './render/run.ts';
import { type CleanSummary, cleanFile, cleanKey } from './run/clean-place.ts';

declare const SLUICE_VERSION: string;

export async function run(invocation: Invocation): Promise<ExitCode> {
  const begun = performance.now();
  const { values, positionals, io } = invocation;
  const path = resolve(io.cwd, positionals[0]!);
  const isPlain =
    !['force', 'all', 'dry-run'].some((name) => flag(values, name)) && list(values, 'set').length === 0;
  const checked = isPlain
    ? check(cleanFile(projectRootOf(dirname(path)), path), cleanKey(path, {}, text(values, 'stage')))
    : null;
  if (checked?.kind !== 'clean') {
    const long = await import('./run.ts');
    return long.run(invocation, checked?.kind === 'changed' ? checked : null);
  }
  const found = checked.summary;
  const id = `r-${randomBytes(6).toString('hex')}`;
  const seconds = (performance.now() - begun) / 1_000;
  logRun(path, { id, ...found, seconds });
  const outcome = { id, name: found.workflow, results: [], cached: found.cached, seconds };
  io.stdout.write(renderRun(outcome, io, { json: flag(values, 'json'), all: false }));
  return EXIT.done;
}

function check(file: string, key: string): Checked<CleanSummary> {
  return checkClean(file, key, { lookAtRest: (from) => inThread({ file, key, from }) });
}

function inThread(workerData: object): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    // Beside the folder of the chunk that this is built into.
    const thread = new Worker(new URL('../clean-rest.js', import.meta.url), { workerData });
    thread.once('message', resolve).once('error', reject);
    thread.once('exit', () => reject(new Error('it ended without an answer')));
  });
}

interface Done extends CleanSummary {
  readonly id: string;
  readonly seconds: number;
}

/** A run that does nothing is a run all the same (SEMANTICS 26). */
function logRun(path: string, { id, workflow, cached, seconds }: Done): void {
  const ts = new Date().toISOString();
  const total_seconds = Math.round(seconds * 1_000) / 1_000;
  const counts = { stages_run: 0, stages_cached: cached, stages_failed: 0, total_seconds };
  const events = [
    { ts, event: 'run_started', playbook: workflow, run_id: id, sluice_version: SLUICE_VERSION },
    { ts, event: 'run_completed', run_id: id, ...counts },
  ];
  const log = `${path.replace(/\.(ya?ml|json)$/i, '')}.events.jsonl`;
  appendFileSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}
