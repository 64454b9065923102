// Works on one run until nothing is left that this process can do: claims, performs, posts, looks again, waits.

import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkPool } from '../../runner/work-pool.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import { isSettled } from '../../schema/status-words.ts';
import { send } from '../../watcher/report.ts';
import { performingOf } from '../perform.ts';
import type { StageStart } from '../render/progress.ts';
import { look, RUNNER, TARGET, type Watching } from './look.ts';
import type { RunParts } from './run-parts.ts';
import { onlyOf, readScope } from './run-scope.ts';

export interface Work {
  readonly id: string;
  /** In scope. */
  readonly stages: readonly string[];
  readonly watching: Watching;
}

/** Longer back-offs are not waited for (SEMANTICS 18). */
const LONGEST_WAIT_MS = 60_000;

export async function workHere(parts: RunParts, work: Work): Promise<void> {
  const { kept, stop, tools } = parts;
  const { stages, watching } = work;
  mkdirSync(tools.own, { recursive: true });
  await showProgress(parts, stages);
  const pool = poolOf(parts, work);
  try {
    for (;;) {
      await pool.drain();
      if (stop.isStopped) return;
      if (kept.takeMadeDirectory() && (await look(watching)) > 0) continue;
      const waitMs = await retryWait(parts, stages);
      if (waitMs === null) return;
      await pause(waitMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    pool.close();
  }
}

async function showProgress({ request, ask, kept }: RunParts, stages: readonly string[]): Promise<void> {
  const { progress } = request;
  if (progress === null) return;
  const { states } = await readScope(ask, request, stages);
  if (states !== null) {
    progress.begun(startsOf(states));
    return;
  }
  const { stages: counts } = await ask.status();
  progress.begun(
    stages.flatMap((stage) => {
      const count = counts[stage];
      if (count === undefined || kept.stages.get(stage)?.kind === 'source') return [];
      const due = count.stale + count.failed + count.processing;
      return [{ stage, total: due + count.fresh + count.edited + count.skipped, due }];
    }),
  );
}

/** Of a few states of each stage. */
function startsOf(states: readonly StateAnswer[]): StageStart[] {
  return [...new Set(states.map(({ stage }) => stage))].map((stage) => {
    const own = states.filter((state) => state.stage === stage);
    return { stage, total: own.length, due: own.filter(({ status }) => !isSettled(status)).length };
  });
}

function poolOf({ request, tools, kept, recipes, stop }: RunParts, { id, stages, watching }: Work): WorkPool {
  const { client, machine, root, lock, own } = tools;
  const { loaded, capacity, io } = request;
  const { workflow } = loaded;
  const perform = performingOf({
    ...{ workflow, root, own, machine, recipes, env: io.env },
    hasLockFile: lock.existed,
    remadeBy: (path) => kept.remadeBy(path),
    starting: (item, reasons) => kept.starting(item, reasons),
    isMine: (tokens) => pool.isMine(tokens),
  });
  const pool: WorkPool = new WorkPool({
    ...{
      client,
      runner: RUNNER,
      targets: [TARGET],
      capacity,
      workflows: () => [workflow.name],
      stages,
      run: id,
      ...onlyOf(workflow.name, request),
    },
    stageOf: ({ stage }) => kept.stages.get(stage)!,
    perform: (items, signal) => {
      // What is made is told with its result, and a death before that is noted must not look like nothing was told.
      watching.reported.open();
      return perform(items, signal);
    },
    observe: (observations) => send(observations, watching),
    posted: (performed, answer) => {
      // Told with the result, so the next look need not tell it again.
      for (const { path, hash, size } of performed.outs) watching.reported.took({ path, hash, size });
      kept.posted(performed, answer);
    },
    isStopping: () => stop.isStopped,
    signal: stop.signal,
  });
  return pool;
}

/** How long until the next retry; null if there is none, or it is too far away to be waited for. */
async function retryWait({ ask, request }: RunParts, stages: readonly string[]): Promise<number | null> {
  const waiting = await ask.states({ status: 'failed' });
  if (waiting.length === 0) return null;
  const failed = waiting.filter((await readScope(ask, request, stages)).has);
  const times = failed.flatMap(({ next_retry_at }) =>
    next_retry_at === null ? [] : [Date.parse(next_retry_at)],
  );
  if (times.length === 0) return null;
  const waitMs = Math.min(...times) - Date.now();
  return waitMs > LONGEST_WAIT_MS ? null : Math.max(0, waitMs);
}
