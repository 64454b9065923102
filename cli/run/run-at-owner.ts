// A run in a project that another process keeps: that one makes what is stale, this one asks, follows and tells.
//
//   is it kept there, as it is here? ──▶ tell it what is on disk ──▶ begin the run
//       ──▶ follow its events until nothing is left that can be made ──▶ tell how every state came out

import { setTimeout as pause } from 'node:timers/promises';
import { answerOf, type Client } from '../../host/client.ts';
import { reachOwner } from '../control-plane.ts';
import { explained } from '../refused.ts';
import { Ask } from './ask.ts';
import { Following } from './owned/following.ts';
import { outcomeOf } from './owned/outcome.ts';
import { refuseUnlessKept } from './owned/refuse-unless-kept.ts';
import { tellDisk } from './owned/tell-disk.ts';
import { isGood, type StateResult } from './results.ts';
import type { OwnedRequest, RunOutcome } from './run-parts.ts';

export async function runAtOwner(request: OwnedRequest): Promise<RunOutcome> {
  const client = reachOwner(request.own);
  try {
    return await toTheEnd(request, client);
  } catch (error) {
    throw explained(error);
  }
}

async function toTheEnd(request: OwnedRequest, client: Client): Promise<RunOutcome> {
  const begunMs = performance.now();
  const { loaded, force, stage, progress } = request;
  // From here on, for an edit of the file, and what is told of the disk, may be worked on at once.
  const following = await Following.fromNow(client, request);
  await refuseUnlessKept(request, client);
  await tellDisk(request, client);
  const ask = new Ask(client, loaded.workflow.name);
  const json = { force, cause: 'sluice run', ...(stage === undefined ? {} : { stage }) };
  const name = encodeURIComponent(loaded.workflow.name);
  const { id, stages } = await answerOf(
    client.api.workflows[':name{[^]+}'].runs.$post({ param: { name }, json }),
  );
  progress?.begun(startsOf(await ask.status(), stages));
  const stop = new AbortController();
  const leave = () => stop.abort();
  process.once('SIGINT', leave).once('SIGTERM', leave);
  try {
    await followToTheEnd({ ask, following, stages, signal: stop.signal });
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
  if (stop.signal.aborted)
    request.warn(`${request.url} goes on with it; \`sluice status\` tells how it stands`);
  const came = await outcomeOf(request, { ask, following, inScope: new Set(stages) });
  const outcome = { ...came, id, seconds: (performance.now() - begunMs) / 1_000 };
  await tellEnd(client, outcome);
  return outcome;
}

interface Followed {
  readonly ask: Ask;
  readonly following: Following;
  /** In scope. */
  readonly stages: readonly string[];
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 100;

/** Done when two looks find nothing that runs or could: between a result and the next claim there is a moment. */
async function followToTheEnd({ ask, following, stages, signal }: Followed): Promise<void> {
  for (let quiet = 0; quiet < 2 && !signal.aborted; ) {
    const happened = await following.look();
    quiet = happened === 0 && (await isSettled(ask, stages)) ? quiet + 1 : 0;
    if (quiet < 2) await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

/** Longer back-offs are not waited for (SEMANTICS 18). */
const LONGEST_WAIT_MS = 60_000;

async function isSettled(ask: Ask, scope: readonly string[]): Promise<boolean> {
  const { stages } = await ask.status();
  const counts = scope.flatMap((stage) => stages[stage] ?? []);
  if (counts.some(({ processing }) => processing > 0)) return false;
  if (counts.some(({ stale, waiting, blocked }) => stale > waiting + blocked)) return false;
  if (counts.every(({ failed, exhausted }) => failed === exhausted)) return true;
  const soonest = (await ask.states({ status: 'failed' })).flatMap(({ next_retry_at }) =>
    next_retry_at === null ? [] : [Date.parse(next_retry_at)],
  );
  return Math.min(...soonest) - Date.now() > LONGEST_WAIT_MS;
}

function startsOf(status: Awaited<ReturnType<Ask['status']>>, stages: readonly string[]) {
  return stages.flatMap((stage) => {
    const count = status.stages[stage];
    if (count === undefined) return [];
    const due = count.stale + count.failed + count.processing;
    return [{ stage, total: due + count.fresh + count.edited + count.skipped, due }];
  });
}

async function tellEnd(client: Client, { id, results, cached, seconds }: RunOutcome): Promise<void> {
  const count = (...statuses: readonly StateResult['status'][]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const counts = {
    ...{ stages_run: count('completed', 'failed'), stages_cached: cached, stages_failed: count('failed') },
    total_seconds: Math.round(seconds * 1_000) / 1_000,
  };
  const json = { status: results.every(isGood) ? ('completed' as const) : ('failed' as const), counts };
  await answerOf(client.api.runs[':id'].end.$post({ param: { id }, json }));
}
