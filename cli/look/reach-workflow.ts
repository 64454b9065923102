// From what a person names, a file or a workflow, to the control plane that knows it; a file's own place is looked at
// first, unless somebody else is working there.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { answerOf, type Client } from '../../host/client.ts';
import { projectRootOf } from '../../host/project-root.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { CliError, type Io, text, type Values } from '../command.ts';
import { reach } from '../control-plane.ts';
import { type LoadedWorkflow, loadFile } from '../load-file.ts';
import { explained } from '../refused.ts';
import { Ask } from '../run/ask.ts';
import { type Here, lookHere } from './look-here.ts';

export interface ReachedWorkflow {
  readonly name: string;
  readonly stages: readonly Stage[];
  readonly client: Client;
  readonly ask: Ask;
  /** Set if the disk was looked at just now, by this process. */
  readonly here: Here | null;
  close(): Promise<void>;
}

export async function reachWorkflow(named: string, values: Values, io: Io): Promise<ReachedWorkflow> {
  if (!isFile(named, io)) return byName(named, values, io);
  const loaded = loadFile(named, io);
  const here = isElsewhere(values) ? null : await lookHere(loaded, { io });
  if (here === null) return byFile(loaded, values, io);
  const { client, ask, close } = here;
  return { name: loaded.workflow.name, stages: loaded.workflow.stages, client, ask, here, close };
}

/** A name that ends like a workflow file is taken for one, so that a missing file is told as such. */
export function isFile(named: string, io: Io): boolean {
  return /\.(ya?ml|json)$/i.test(named) || existsSync(resolve(io.cwd, named));
}

/** Nothing is made on disk by asking for what cannot be there. */
export function refuseWithoutDatabase(from: string): void {
  if (existsSync(join(projectRootOf(from), '.sluice', 'state.db'))) return;
  throw new CliError({
    code: 'no-database',
    message: `nothing is known here yet: ${projectRootOf(from)} has no .sluice/state.db`,
    hint: 'name a workflow file, or run `sluice run FILE` first; with --api URL another control plane is asked',
  });
}

export function isElsewhere(values: Values): boolean {
  return text(values, 'api') !== undefined || text(values, 'db') !== undefined;
}

async function byFile(loaded: LoadedWorkflow, values: Values, io: Io): Promise<ReachedWorkflow> {
  const { client, close } = await reach(values, io, dirname(loaded.path));
  const { name, stages } = loaded.workflow;
  return { name, stages, client, ask: new Ask(client, name), here: null, close };
}

async function byName(name: string, values: Values, io: Io): Promise<ReachedWorkflow> {
  if (!isElsewhere(values)) refuseWithoutDatabase(io.cwd);
  const { client, close } = await reach(values, io);
  try {
    const stages = await registeredStages(client, name);
    return { name, stages, client, ask: new Ask(client, name), here: null, close };
  } catch (error) {
    await close();
    throw explained(error);
  }
}

async function registeredStages(client: Client, name: string): Promise<readonly Stage[]> {
  const param = { name: encodeURIComponent(name) };
  const { definition } = await answerOf(client.api.workflows[':name{[^]+}'].$get({ param }));
  const found = await answerOf(client.api.definitions[':hash'].$get({ param: { hash: definition } }));
  return (found.normal_form as unknown as Workflow).stages;
}
