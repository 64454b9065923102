// Loops between workflows, of those to be pushed and those that the control plane has, found before anything is sent.

import { answerOf, type Client } from '../../host/client.ts';
import { shown } from '../../schema/diagnostic.ts';
import { linkStages } from '../../schema/discovery/links.ts';
import { buildRegistry, type RegisteredWorkflow } from '../../schema/discovery/registry.ts';
import { LOCAL, type TargetName } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { CliError } from '../command.ts';
import type { Pushed } from './read-pushed.ts';

interface There {
  readonly client: Client;
  readonly target: string | undefined;
  readonly registered: readonly { readonly name: string; readonly definition: string }[];
}

/** Asked side by side, so that a hundred workflows take a moment and not a hundred round trips. */
const AT_ONCE = 16;

export async function refuseLoops(pushed: readonly Pushed[], there: There): Promise<void> {
  const names = new Set(pushed.map(({ name }) => name));
  const others = there.registered.filter(({ name }) => !names.has(name));
  const placed: Placed[] = pushed.map(({ name, root, workflow }) => ({
    ...{ name, root, workflow, target: there.target ?? LOCAL },
  }));
  for (let from = 0; from < others.length; from += AT_ONCE)
    placed.push(
      ...(await Promise.all(
        others.slice(from, from + AT_ONCE).map((each) => definitionOf(each, there.client)),
      )),
    );
  const { problems } = linkStages(buildRegistry(numbered(placed)).stages);
  const loops = problems.flatMap((problem) =>
    problem.problem === 'cycle' ? [problem.stages.map(shown).join(' → ')] : [],
  );
  if (loops.length === 0) return;
  throw new CliError({
    code: 'cycle',
    message: `these stages wait for each other: ${loops.join('; ')}; nothing was registered`,
    hint: 'remove one dep of the loop, or remove one of the workflows with `sluice rm`',
  });
}

interface Placed {
  readonly name: string;
  readonly root: string;
  readonly target: string;
  readonly workflow: Workflow;
}

async function definitionOf(
  { name, definition }: There['registered'][number],
  client: Client,
): Promise<Placed> {
  const found = await answerOf(client.api.definitions[':hash'].$get({ param: { hash: definition } }));
  const { root, target, normal_form } = found;
  return { name, root, target, workflow: normal_form as unknown as Workflow };
}

function numbered(placed: readonly Placed[]): RegisteredWorkflow[] {
  let next = 1;
  return placed.map(({ name, root, target, workflow }, i) => ({
    ...{ id: i + 1, name, root, target: target as TargetName, workflow },
    stageIds: new Map(workflow.stages.map(({ id }) => [id as string, next++])),
  }));
}
