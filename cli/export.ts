// `sluice export manifests [FILE|NAME]`: what is known of every entity as JSON files, for people and scripts.

import { dirname, join, resolve } from 'node:path';
import { loadBlake3 } from '../host/blake3.ts';
import { answerOf, type Client } from '../host/client.ts';
import { shown } from '../schema/diagnostic.ts';
import type { EntityAnswer } from '../schema/read-answers.ts';
import {
  CliError,
  EXIT,
  type ExitCode,
  flag,
  type Invocation,
  type Io,
  text,
  type Values,
} from './command.ts';
import { reach } from './control-plane.ts';
import { exportTree } from './export/export-tree.ts';
import { isElsewhere, isFile, reachWorkflow, refuseWithoutDatabase } from './look/reach-workflow.ts';
import { explained } from './refused.ts';
import { renderExported } from './render/export.ts';

const PAGE = 500;
const DEFAULT_FOLDER = '.sluice-manifests';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const named = positionals[1];
  const { client, name, close } = await (named === undefined
    ? theOnly(values, io)
    : reachWorkflow(named, values, io));
  try {
    const beside = named !== undefined && isFile(named, io) ? dirname(resolve(io.cwd, named)) : io.cwd;
    const to = resolve(io.cwd, text(values, 'to') ?? join(beside, DEFAULT_FOLDER));
    const exported = await exportTree(pagesOf(client, name), { workflow: name, to, hash: loadBlake3().hash });
    io.stdout.write(renderExported({ workflow: name, to, ...exported }, flag(values, 'json')));
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

/** Which workflow need not be said where there is only one. */
async function theOnly(values: Values, io: Io) {
  if (!isElsewhere(values)) refuseWithoutDatabase(io.cwd);
  const { client, close } = await reach(values, io);
  try {
    const names = (await answerOf(client.api.workflows.$get())).map(({ name }) => name);
    if (names.length === 1) return { client, name: names[0]!, close };
    throw new CliError({
      code: 'which-workflow',
      message:
        names.length === 0 ? 'no workflow is registered here' : `there are ${names.length} workflows here`,
      hint:
        names.length === 0
          ? 'name a workflow file, or register one with `sluice push`'
          : `name one of them: ${names.slice(0, 5).map(shown).join(', ')}${names.length > 5 ? ', …' : ''}`,
    });
  } catch (error) {
    await close();
    throw explained(error);
  }
}

async function* pagesOf(client: Client, workflow: string): AsyncGenerator<readonly EntityAnswer[]> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const response: Response & { json(): Promise<EntityAnswer[]> } = (await client.api.pipeline[
      ':workflow'
    ].manifests.$get({
      param: { workflow: encodeURIComponent(workflow) },
      query: { after, limit: String(PAGE) },
    })) as never;
    yield await answerOf<EntityAnswer[]>(response);
    after = /[?&]after=([^&>]+)/.exec(response.headers.get('Link') ?? '')?.[1];
  }
}
