// Whether the owner of a project would make a workflow, and as its file says now; if not, why, and what to do.

import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answerOf, type Client } from '../../../host/client.ts';
import { shown } from '../../../schema/diagnostic.ts';
import { CliError, EXIT } from '../../command.ts';
import { TARGET } from '../look.ts';
import type { OwnedRequest } from '../run-parts.ts';

/** An edit is followed within a second or two, unless it is refused. */
const FOLLOWED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;
/** Whoever has not asked for work for so long does not work. */
const SEEN_WITHIN_MS = 90_000;

export async function refuseUnlessKept(request: OwnedRequest, client: Client): Promise<void> {
  const { loaded, set, url } = request;
  const name = shown(loaded.workflow.name);
  if (Object.keys(set).length > 0)
    throw refusal(`--set would change what is kept on ${url} for everybody`, {
      hint: 'write it into the file, which is followed, or stop what keeps the project and run again',
    });
  if (!(await isRegistered(request, client)))
    throw refusal(`another sluice keeps this project, on ${url}, and '${name}' is not among what it keeps`, {
      hint: `stop it to run by hand, or start it with ${shown(loaded.path)} as well`,
    });
  if (!(await hasRunner(client)))
    throw refusal(`${url} keeps this project, and nobody works for it on this machine`, {
      hint: 'start `sluice work` for it, or stop it to run by hand',
    });
  for (const until = performance.now() + FOLLOWED_WITHIN_MS; !(await isCurrent(request, client)); ) {
    if (performance.now() > until)
      throw refusal(`what is kept on ${url} is not '${name}' as its file says now`, {
        hint: 'see what it says about the file: an edit that does not load is not followed',
      });
    await pause(LOOK_EVERY_MS);
  }
}

async function isRegistered({ loaded }: OwnedRequest, client: Client): Promise<boolean> {
  const known = await answerOf(client.api.workflows.$get());
  return known.some(({ name, root }) => name === loaded.workflow.name && root === dirname(loaded.path));
}

async function isCurrent({ loaded }: OwnedRequest, client: Client): Promise<boolean> {
  const param = { name: encodeURIComponent(loaded.workflow.name) };
  const { definition } = await answerOf(client.api.workflows[':name{[^]+}'].$get({ param }));
  const { source } = await answerOf(client.api.definitions[':hash'].$get({ param: { hash: definition } }));
  return source === loaded.text;
}

async function hasRunner(client: Client): Promise<boolean> {
  const machines = await answerOf(client.api.machines.$get());
  return machines.some(
    ({ role, targets, last_seen_at }) =>
      role === 'runner' && targets.includes(TARGET) && Date.now() - Date.parse(last_seen_at) < SEEN_WITHIN_MS,
  );
}

function refusal(message: string, { hint }: { readonly hint: string }): CliError {
  return new CliError({ code: 'kept-elsewhere', message, hint, exitCode: EXIT.locked });
}
