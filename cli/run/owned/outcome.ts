// How every state in the scope of a run came out, once its owner has nothing left to make.

import { dirname } from 'node:path';
import { ignoreRule } from '../../../host/ignore.ts';
import { scan } from '../../../watcher/scan.ts';
import type { Ask } from '../ask.ts';
import { inOrder } from '../results.ts';
import type { RunOutcome, RunRequest } from '../run-parts.ts';
import { passedOverResults, unsettledResults } from '../unsettled.ts';
import type { Following } from './following.ts';

export interface Followed {
  readonly ask: Ask;
  readonly following: Following;
  readonly inScope: ReadonlySet<string>;
}

export async function outcomeOf(
  request: Pick<RunRequest, 'loaded' | 'all'>,
  followed: Followed,
): Promise<Pick<RunOutcome, 'results' | 'cached'>> {
  const { ask, following, inScope } = followed;
  await tellUnsettled(request, followed);
  const told = following.all().filter(({ status, isWanted }) => status === 'completed' || isWanted).length;
  const { stages } = await ask.status();
  const settled = [...inScope].reduce((sum, stage) => {
    const { fresh, edited, skipped, orphan } = stages[stage] ?? NONE;
    return sum + fresh + edited + skipped + orphan;
  }, 0);
  if (request.all) await addCached(followed);
  const results = following.all().filter(({ stage }) => inScope.has(stage));
  return { results: inOrder(results, request.loaded.workflow), cached: Math.max(0, settled - told) };
}

const NONE = { fresh: 0, edited: 0, skipped: 0, orphan: 0 };

async function tellUnsettled({ loaded }: Pick<RunRequest, 'loaded'>, followed: Followed): Promise<void> {
  const { ask, following, inScope } = followed;
  const { workflow, dag, path } = loaded;
  const asked = (['stale', 'waiting', 'running', 'failed', 'exhausted'] as const).map((status) =>
    ask.states({ status }),
  );
  const left = (await Promise.all(asked)).flat().filter(({ stage }) => inScope.has(stage));
  const gaveUp = left.filter(({ status }) => status === 'exhausted');
  for (const { stage, entity, reasons, error } of gaveUp)
    following.tell(stage, entity, { status: 'failed', reasons, error: error ?? 'it failed', seconds: 0 });
  const root = dirname(path);
  const ignore = ignoreRule(workflow.watch.ignore);
  const context = {
    ...{ workflow, dag, root, results: following.all(), isStopped: false },
    list: (pattern: Parameters<typeof scan>[0]['patterns'][number]) =>
      scan({ patterns: [pattern], root, ignore }).found.map(({ path: found }) => found),
  };
  const others = left.filter(({ status }) => status !== 'exhausted');
  const skipped = (await ask.states({ status: 'skipped' })).filter((state) => !following.has(state));
  for (const result of [...passedOverResults(skipped, context), ...unsettledResults(others, context)])
    following.tell(result.stage, result.entity, result);
}

async function addCached({ ask, following, inScope }: Followed): Promise<void> {
  for (const { stage, entity } of await ask.states({})) {
    if (!inScope.has(stage) || following.has({ stage, entity })) continue;
    following.add(stage, entity, { status: 'cached', reasons: [], error: null, seconds: 0 });
  }
}
