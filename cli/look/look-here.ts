// Looks at a workflow in this process without running anything: the control plane of the project, told what is on disk.

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { answerOf } from '../../host/client.ts';
import { takeOwnership } from '../../host/owner.ts';
import { projectRootOf } from '../../host/project-root.ts';
import type { Json } from '../../schema/words.ts';
import type { Io } from '../command.ts';
import { inProcess } from '../control-plane.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import { explained } from '../refused.ts';
import { renderWarning } from '../render/run.ts';
import { Ask } from '../run/ask.ts';
import { keepLockAside } from '../run/keep-lock-aside.ts';
import { importLock, lockOf, look, type Place, RUNNER, register, watchingOf } from '../run/look.ts';
import { openMachine } from '../run/machine.ts';
import { openState } from '../run/open-state.ts';
import { readSecrets } from '../secrets.ts';

export interface Here extends Place {
  readonly ask: Ask;
  close(): Promise<void>;
}

export interface LookOptions {
  readonly io: Io;
  readonly set?: Readonly<Record<string, Json>>;
}

/** Null if another process owns the project: then it is the one to be asked. */
export async function lookHere(loaded: LoadedWorkflow, { io, set = {} }: LookOptions): Promise<Here | null> {
  const root = dirname(loaded.path);
  const project = projectRootOf(root);
  const own = join(project, '.sluice');
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner === null) return null;
  const closing: (() => Promise<void> | void)[] = [() => owner.release()];
  const close = async () => {
    for (const each of closing.reverse()) await each();
  };
  const warn = (warning: string) => void io.stderr.write(renderWarning(warning, io));
  const secretOf = readSecrets(io);
  try {
    mkdirSync(own, { recursive: true });
    const machine = await openMachine({ workflow: loaded.workflow, path: loaded.path, root, own, secretOf });
    closing.push(() => machine.close());
    const lock = lockOf(loaded, { project, own, blake3: machine.blake3, damaged: keepLockAside(own, warn) });
    const { client, close: closeDatabase } = inProcess(await openState(own, io, warn), io);
    closing.push(closeDatabase);
    const place: Place = { loaded, project, own, root, set, client, machine, lock };
    await tell(place);
    return { ...place, ask: new Ask(client, loaded.workflow.name), close };
  } catch (error) {
    await close();
    throw explained(error);
  }
}

async function tell(place: Place): Promise<void> {
  // What a run that was killed still held is nobody's now: we own the project.
  await answerOf(place.client.api.work.restart.$post({ json: { runner: RUNNER } }));
  await register(place);
  const watching = await watchingOf(place);
  await look(watching);
  await importLock(place);
  watching.reported.save();
}
