// `sluice why FILE STAGE[@ENTITY]`: the reasons of a state, down to the file or param that changed.

import { upstreamOf } from '../schema/dag.ts';
import type { WhyAnswer } from '../schema/read-answers.ts';
import type { EntityId } from '../schema/words.ts';
import { type AskedState, askedState } from './asked-state.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation } from './command.ts';
import { checkStale, type Unmade } from './look/check-stale.ts';
import { type ReachedWorkflow, reachWorkflow } from './look/reach-workflow.ts';
import { explained } from './refused.ts';
import { renderWhy } from './render/why.ts';
import { askWhy } from './why/ask-why.ts';

/** Of a stage that is named as a whole. */
const MOST_STATES = 5;

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const [named, written] = positionals as [string, string];
  const reached = await reachWorkflow(named, values, io);
  try {
    const asked = askedState(written, reached.stages);
    const unmade = reached.here === null ? [] : await checkStale(reached.here, upTo(reached, asked));
    const { entities, more } = await entitiesOf(reached, asked);
    const answers: WhyAnswer[] = [];
    for (const entity of entities)
      answers.push(sharpened(await askWhy(reached, { stage: asked.stage.id, entity }), reached.name, unmade));
    io.stdout.write(
      renderWhy({ answers, more, stage: asked.stage, reached, json: flag(values, 'json') }, io),
    );
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}

/** A stage and what is before it: no other can be a reason. */
function upTo({ here, stages }: ReachedWorkflow, { stage }: AskedState): readonly string[] {
  const before = upstreamOf(here!.loaded.dag, stage.id);
  return stages
    .filter(({ id, kind }) => kind !== 'source' && (id === stage.id || before.has(id)))
    .map(({ id }) => id);
}

async function entitiesOf({ ask }: ReachedWorkflow, { stage, entity }: AskedState) {
  if (entity !== null) return { entities: [entity], more: 0 };
  const states = await ask.states({ stage: stage.id });
  if (states.length === 0) {
    throw new CliError({
      code: 'no-states',
      message: `stage '${stage.id}' has no states: nothing on disk matches what it reads`,
      hint: `it reads ${stage.deps.map(({ path }) => path).join(', ') || 'nothing'}; put files there and ask again`,
    });
  }
  const open = states.filter(({ status }) => status !== 'fresh' && status !== 'skipped');
  const told = (open.length > 0 ? open : states).map((state) => state.entity as EntityId);
  return { entities: told.slice(0, MOST_STATES), more: Math.max(0, told.length - MOST_STATES) };
}

/** What the files themselves said just now is more exact than what was kept. */
function sharpened(answer: WhyAnswer, workflow: string, unmade: readonly Unmade[]): WhyAnswer {
  const upstream = answer.upstream.map((each) => sharpened(each, workflow, unmade));
  const found = unmade.find(
    ({ item }) =>
      answer.workflow === workflow && item.stage === answer.stage && item.entity === answer.entity,
  );
  if (found === undefined || found.judged.kind !== 'stale') return { ...answer, upstream };
  const failed = answer.reasons.filter(({ reason }) => reason === 'last-attempt-failed');
  const reasons = found.judged.reasons.map((sentence) => ({ reason: 'seen', sentence }));
  return { ...answer, upstream, reasons: [...reasons, ...failed] };
}
