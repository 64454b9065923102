// Asks the control plane why a state is as it is, and puts what it waits for into a few words.

import { answerOf } from '../../host/client.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { NamedState, WhyAnswer } from '../../schema/read-answers.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { ReachedWorkflow } from '../look/reach-workflow.ts';
import { nameOf } from '../run/results.ts';

export async function askWhy(
  { client, name }: Pick<ReachedWorkflow, 'client' | 'name'>,
  { stage, entity }: { readonly stage: string; readonly entity: string },
): Promise<WhyAnswer> {
  const asked = client.api.workflows[':name'].why.$get({
    param: { name: encodeURIComponent(name) },
    query: { stage, entity },
  });
  return (await answerOf(asked)) as WhyAnswer;
}

export async function waitsFor(
  reached: ReachedWorkflow,
  state: { readonly stage: string; readonly entity: string },
): Promise<string> {
  return causeOf(await askWhy(reached, state), reached);
}

type Known = Pick<ReachedWorkflow, 'name' | 'stages'>;

const MOST_NAMED = 3;

/** Empty if it waits for nothing. */
export function causeOf(why: WhyAnswer, known: Known): string {
  switch (why.cause) {
    case null:
      return '';
    case 'missing':
      return `missing ${few(why.waits_for.map(shown))}`;
    case 'upstream':
      return `waits for ${few(why.upstream.map((each) => stateNameOf(each, known)))}`;
    case 'after':
      return `waits for ${few(why.after.map(({ stage }) => `stage '${shown(stage)}'`))}`;
    case 'retry':
      return `next attempt at ${why.retry_at}`;
    case 'gave-up':
      return `blocked by ${few(why.blocked_by.map((each) => stateNameOf(each, known)))}`;
  }
}

/** As `run` shows it; a state of another workflow with that workflow's name. */
export function stateNameOf({ workflow, stage, entity }: NamedState, { name, stages }: Known): string {
  const mine = workflow === name ? stages.find(({ id }) => id === stage) : undefined;
  if (mine !== undefined) return nameOf(mine as Stage, entity as EntityId);
  const plain = entity === '' ? shown(stage) : `${shown(stage)}@${shown(entity)}`;
  return workflow === name ? plain : `${shown(workflow)}: ${plain}`;
}

function few(names: readonly string[]): string {
  if (names.length === 0) return 'what it is made from';
  const told = names.slice(0, MOST_NAMED).join(', ');
  return names.length > MOST_NAMED ? `${told} and ${names.length - MOST_NAMED} more` : told;
}
