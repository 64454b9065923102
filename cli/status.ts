// `sluice status [FILE|NAME]`: how every stage stands, and what is not settled, with the reasons.

import { answerOf, type Client, Refused } from '../host/client.ts';
import type { StateAnswer, StatusCounts } from '../schema/read-answers.ts';
import { COUNTED_WORDS, isSettled } from '../schema/status-words.ts';
import { troubledFacts } from '../schema/wire.ts';
import type { Stage } from '../schema/workflow.ts';
import { askedState } from './asked-state.ts';
import { EXIT, type ExitCode, flag, type Invocation, text } from './command.ts';
import { reach } from './control-plane.ts';
import { checkStale } from './look/check-stale.ts';
import {
  isElsewhere,
  type ReachedWorkflow,
  reachWorkflow,
  refuseWithoutDatabase,
} from './look/reach-workflow.ts';
import { explained } from './refused.ts';
import {
  renderStatus,
  renderStatuses,
  renderTroubled,
  type TroubledRoot,
  type WordCounts,
} from './render/status.ts';
import { Ask } from './run/ask.ts';
import { waitsFor } from './why/ask-why.ts';

export async function run(invocation: Invocation): Promise<ExitCode> {
  const { values, positionals, io } = invocation;
  const named = positionals[0];
  if (named === undefined) return everything(invocation);
  const reached = await reachWorkflow(named, values, io);
  try {
    const asked = text(values, 'stage');
    const stage = asked === undefined ? null : askedState(asked, reached.stages);
    const seen = await reasonsHere(reached);
    const stages = reached.stages.filter(({ id }) => stage === null || id === stage.stage.id);
    const { counts, perStage } = await countsOf(reached, stages);
    const listed = (await statesOf(reached, stages, flag(values, 'json')))
      .filter(({ entity }) => stage?.entity == null || entity === stage.entity)
      .map((state) => ({ ...state, reasons: [...(seen.get(keyOf(state)) ?? state.reasons)] }));
    const states = await withCauses(reached, listed);
    const isHere = reached.here !== null;
    const report = { name: reached.name, named, isHere, stages, counts, perStage, states };
    io.stdout.write(renderStatus(report, io, flag(values, 'json')));
    const troubled = await troubledRoots(reached.client);
    io.stderr.write(
      renderTroubled(
        troubled.filter(({ workflow }) => workflow === reached.name),
        io,
      ),
    );
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}

/** Of all workflows that the control plane knows, one line each. */
async function everything({ values, io }: Invocation): Promise<ExitCode> {
  if (!isElsewhere(values)) refuseWithoutDatabase(io.cwd);
  const reached = await reach(values, io);
  try {
    const workflows = await answerOf(reached.client.api.workflows.$get());
    const all = await Promise.all(
      workflows.map(async ({ name, paused }) => {
        const status = await new Ask(reached.client, name).status();
        return { workflow: name, paused, counts: wordCounts(status) };
      }),
    );
    io.stdout.write(renderStatuses(all, io, flag(values, 'json')));
    io.stderr.write(renderTroubled(await troubledRoots(reached.client), io));
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}

/** What watchers and runners said last of places that they cannot get at. */
async function troubledRoots(client: Client): Promise<readonly TroubledRoot[]> {
  const machines = await answerOf(client.api.machines.$get()).catch((error: unknown) => {
    // A token that is limited to some of the work is told of that alone.
    if (error instanceof Refused && error.status === 403) return [];
    throw error;
  });
  return machines.flatMap(({ role, name, facts }) => {
    const said = troubledFacts.safeParse(facts);
    if (!said.success) return [];
    return said.data.roots.flatMap(({ workflow, problem }) =>
      problem === null ? [] : [{ workflow, role, name, problem }],
    );
  });
}

/** What no record vouches for, with the reasons that only the files themselves can tell. */
async function reasonsHere({ here, ask }: ReachedWorkflow): Promise<ReadonlyMap<string, readonly string[]>> {
  if (here === null) return new Map();
  const open = [...(await ask.states({ status: 'stale' })), ...(await ask.states({ status: 'waiting' }))];
  const { lock, loaded } = here;
  // Nothing can vouch for a state that was never made; to claim it would only leave traces.
  const known = new Set(
    open
      .filter(
        ({ stage, entity, cache_key }) => cache_key !== null || lock.cacheKeyOf(stage, entity) !== undefined,
      )
      .map(({ stage }) => stage),
  );
  const stages = loaded.workflow.stages.filter(({ id, frozen }) => frozen || known.has(id));
  const unmade = await checkStale(
    here,
    stages.map(({ id }) => id),
  );
  return new Map(
    unmade.map(({ item, judged }) => [
      keyOf(item),
      judged.kind === 'stale' ? judged.reasons : [judged.reason],
    ]),
  );
}

async function countsOf({ ask }: ReachedWorkflow, stages: readonly Stage[]) {
  const status = await ask.status();
  const perStage = new Map(
    stages.flatMap(({ id }) => {
      const counts = status.stages[id];
      return counts === undefined ? [] : [[id as string, wordCounts(counts)] as const];
    }),
  );
  const counts: WordCounts = Object.fromEntries(
    COUNTED_WORDS.map((word) => [word, [...perStage.values()].reduce((sum, each) => sum + each[word], 0)]),
  ) as WordCounts;
  return { counts, perStage };
}

/** The endpoint counts as pipelines do; here every state has one word (SEMANTICS 8). */
function wordCounts(counts: StatusCounts): WordCounts {
  const { fresh, edited, skipped, orphan, waiting, exhausted, processing } = counts;
  return {
    ...{ fresh, edited, skipped, orphan, waiting, exhausted, running: processing },
    stale: counts.stale - waiting,
    failed: counts.failed - exhausted,
  };
}

async function statesOf(
  { ask }: ReachedWorkflow,
  stages: readonly Stage[],
  all: boolean,
): Promise<StateAnswer[]> {
  const words = COUNTED_WORDS.filter((word) => !isSettled(word) || word === 'edited' || word === 'orphan');
  const only = stages.length === 1 ? { stage: stages[0]!.id } : {};
  const found = all
    ? await ask.states(only)
    : (await Promise.all(words.map((status) => ask.states({ ...only, status })))).flat();
  const position = new Map(stages.map(({ id }, i) => [id as string, i]));
  return found
    .filter(({ stage }) => position.has(stage))
    .sort(
      (a, b) =>
        position.get(a.stage)! - position.get(b.stage)! ||
        (a.entity < b.entity ? -1 : a.entity > b.entity ? 1 : 0),
    );
}

/** More than a person reads are told without what they wait for: each costs a question. */
const MOST_CAUSES = 100;

async function withCauses(
  reached: ReachedWorkflow,
  states: readonly StateAnswer[],
): Promise<readonly StateAnswer[]> {
  const waiting = states.filter(({ status }) => status === 'waiting').slice(0, MOST_CAUSES);
  const causes = new Map<string, string>();
  for (const state of waiting) causes.set(keyOf(state), await waitsFor(reached, state));
  return states.map((state) => {
    const cause = causes.get(keyOf(state));
    // That it was never made says nothing to somebody who asks why it is not made now.
    return cause === undefined ? state : { ...state, reasons: [cause, ...state.reasons.filter(isTelling)] };
  });
}

function isTelling(reason: string): boolean {
  return !/new stage$|first run$/.test(reason);
}

function keyOf({ stage, entity }: { readonly stage: string; readonly entity: string }): string {
  return `${stage}\0${entity}`;
}
