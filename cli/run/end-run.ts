// The end of a run: how every state in its scope came out, also those that no command was started for.

import { answerOf } from '../../host/client.ts';
import { isSettled } from '../../schema/status-words.ts';
import { completeLock } from './complete-lock.ts';
import { inOrder, isGood, type StateResult } from './results.ts';
import type { RunOutcome, RunParts } from './run-parts.ts';
import { type RunScope, readScope } from './run-scope.ts';
import { type NamedState, now } from './state-key.ts';
import { tellEdited, tellFrozen } from './tell-kept.ts';
import { passedOverResults, unsettledResults } from './unsettled.ts';

export interface Ending {
  readonly id: string;
  /** In scope. */
  readonly stages: readonly string[];
  /** By `performance.now()`. */
  readonly begun: number;
}

export async function endRun(parts: RunParts, { id, stages, begun }: Ending): Promise<RunOutcome> {
  const { request, kept, log } = parts;
  await completeLock(parts);
  const inScope = await readScope(parts.ask, request, stages);
  await tellUnsettled(parts, inScope);
  await tellEdited(parts, inScope);
  await tellFrozen(parts, inScope);
  const settled = await countSettled(parts, inScope);
  const ran = kept.all().filter((each) => each.status === 'completed').length;
  const skipped = kept.all().filter((each) => each.isWanted).length;
  const cached = Math.max(0, settled - ran - skipped);
  if (request.all) await addCached(parts, inScope);
  const seconds = (performance.now() - begun) / 1_000;
  const results = inOrder(kept.all(), request.loaded.workflow);
  const counts = countsOf(results, { ran, cached, seconds });
  await answerOf(
    parts.tools.client.api.runs[':id'].end.$post({
      param: { id },
      json: { status: results.every(isGood) ? 'completed' : 'failed', counts },
    }),
  );
  log.append({ ts: now(), event: 'run_completed', run_id: id, ...counts });
  log.flush();
  return { id, results, cached, seconds };
}

async function tellUnsettled(parts: RunParts, inScope: RunScope): Promise<void> {
  const { ask, kept, request, tools, stop } = parts;
  const { workflow, dag } = request.loaded;
  const asked = (['stale', 'waiting', 'failed', 'exhausted'] as const).map((status) =>
    ask.states({ status }),
  );
  const isUntold = (state: NamedState) => inScope.has(state) && !kept.has(state);
  const unsettled = (await Promise.all(asked)).flat().filter(isUntold);
  const results = kept.all();
  const context = {
    ...{ workflow, root: tools.root, list: tools.machine.list, dag },
    ...{ results, isStopped: stop.isStopped },
  };
  const hasSkipped = results.some(({ isWanted }) => isWanted);
  const skipped = hasSkipped ? (await ask.states({ status: 'skipped' })).filter(isUntold) : [];
  for (const result of [...passedOverResults(skipped, context), ...unsettledResults(unsettled, context)])
    kept.report(kept.stages.get(result.stage)!, result.entity, result);
}

async function countSettled({ ask }: RunParts, inScope: RunScope): Promise<number> {
  if (inScope.states !== null) return inScope.states.filter((state) => isSettled(state.status)).length;
  const status = await ask.status();
  return Object.entries(status.stages)
    .filter(([stage]) => inScope.stages.includes(stage))
    .reduce((sum, [, counts]) => sum + counts.fresh + counts.edited + counts.skipped + counts.orphan, 0);
}

function countsOf(
  results: readonly StateResult[],
  { ran, cached, seconds }: { readonly ran: number; readonly cached: number; readonly seconds: number },
) {
  const failed = results.filter((each) => each.status === 'failed').length;
  return {
    ...{ stages_run: ran + failed, stages_cached: cached, stages_failed: failed },
    total_seconds: Math.round(seconds * 1_000) / 1_000,
  };
}

async function addCached({ ask, kept }: RunParts, inScope: RunScope): Promise<void> {
  for (const { stage: id, entity } of await ask.states({})) {
    const stage = kept.stages.get(id);
    if (stage === undefined || !inScope.has({ stage: id, entity }) || kept.has({ stage: id, entity }))
      continue;
    kept.add(stage, entity, { status: 'cached', reasons: [], error: null, seconds: 0 });
  }
}
