// One run in this process: the control plane, the watcher's look and the runner, composed around one workflow.
//
//   register ──▶ look at the disk ──▶ take the lock file's records ──▶ begin the run
//       ──▶ work until nothing is left ──▶ tell how every state came out

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadBlake3 } from '../../host/blake3.ts';
import { answerOf } from '../../host/client.ts';
import type { Reported } from '../../watcher/reported.ts';
import { CliError } from '../command.ts';
import { inProcess, openOrExplain } from '../control-plane.ts';
import { stemOf } from '../load-file.ts';
import { explained } from '../refused.ts';
import { Ask } from './ask.ts';
import { beginRun } from './begin-run.ts';
import { endRun } from './end-run.ts';
import { EventLog } from './event-log.ts';
import { canGoOn, readsMany, renewClean, type Ended as Told, tellChanged } from './go-on.ts';
import { keepClean } from './keep-clean.ts';
import { keepLockAside } from './keep-lock-aside.ts';
import { KeepResults } from './keep-results.ts';
import { importLock, lockOf, look, type Place, RUNNER, register, type Watching, watchingOf } from './look.ts';
import { type Machine, openMachine } from './machine.ts';
import { openState, setStateAside } from './open-state.ts';
import { Recipes } from './recipes.ts';
import { type RunOutcome, type RunParts, type RunRequest, Stop, type Tools } from './run-parts.ts';
import { Saving } from './saving.ts';
import { workHere } from './work-here.ts';

export async function runHere(request: RunRequest): Promise<RunOutcome> {
  try {
    return await runOnce(request);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'database-corrupt') throw error;
    // What is done is in the lock file, so a new one begins where this one was; a second time it is told.
    setStateAside(join(request.project, '.sluice'), request.warn);
    return runOnce({ ...request, changed: null });
  }
}

async function runOnce(request: RunRequest): Promise<RunOutcome> {
  const { loaded, project, io, warn } = request;
  const own = join(project, '.sluice');
  mkdirSync(own, { recursive: true });
  const lookedAtMs = Date.now();
  const blake3 = loadBlake3();
  const lock = lockOf(loaded, { project, own, blake3, damaged: keepLockAside(own, warn) });
  const basis = canGoOn(request.changed, request, { lock, blake3 }) ? request.changed : null;
  // A new one in the place of a damaged one knows nothing that could be gone on from.
  const database = await (basis === null
    ? openState(own, io, warn)
    : openOrExplain(join(own, 'state.db'), io));
  const reached = inProcess(database, io);
  // Only now, for another thread has been looking at the rest of a large project.
  const changed = basis === null ? null : await basis.snapshot.changed();
  const machine = await machineOf(request, { own, changed });
  try {
    const tools = { client: reached.client, machine, lock, own, root: dirname(loaded.path) };
    let ended: Ended;
    try {
      ended = await toTheEnd(partsOf(request, tools), changed);
    } catch (error) {
      throw explained(error);
    } finally {
      await reached.close();
    }
    const { outcome, reported } = ended;
    if (basis !== null && changed !== null) renewClean(basis, request, lock, ended);
    else if (outcome.results.length === 0)
      keepClean(request, outcome.cached, { ...tools, reported, lookedAtMs });
    return outcome;
  } finally {
    await machine.close();
  }
}

interface MachineFor {
  readonly own: string;
  readonly changed: readonly string[] | null;
}

function machineOf(request: RunRequest, { own, changed }: MachineFor): Promise<Machine> {
  const { workflow, path } = request.loaded;
  const hasMemory = changed === null || readsMany(request);
  return openMachine({ workflow, path, root: dirname(path), own, secretOf: request.secretOf, hasMemory });
}

function partsOf(request: RunRequest, tools: Tools): RunParts {
  const { loaded, report, warn, progress } = request;
  const { workflow, path } = loaded;
  const { client, machine, lock, root } = tools;
  const stop = new Stop();
  const log = new EventLog(join(root, `${stemOf(path)}.events.jsonl`));
  const saving = new Saving(() => lock.save(Date.now()));
  const failed = () => {
    if (workflow.policy.failure === 'stop_on_first') stop.afterWhatRuns();
  };
  const noRoomLeft = () => stop.afterWhatRuns();
  const kept = new KeepResults({ workflow, log, lock, saving, report, warn, progress, failed, noRoomLeft });
  const ask = new Ask(client, workflow.name);
  const recipes = new Recipes(client, machine.hash);
  return { request, tools, ask, log, saving, kept, recipes, stop };
}

interface Ended extends Told {
  readonly reported: Reported;
}

/** `changed` are the only files with other content than they had when there was nothing to do; null if more may be. */
async function toTheEnd(parts: RunParts, changed: readonly string[] | null): Promise<Ended> {
  const { request, tools, stop, saving } = parts;
  const begun = performance.now();
  const place = { ...tools, ...request };
  const watching = changed === null ? await lookAll(place) : await goOn(place, changed);
  const { id, stages } = await beginRun(parts);
  const onSignal = () => {
    stop.atOnce();
    // A second one ends this process at once; the watchdog ends the commands.
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    await workHere(parts, { id, stages, watching });
    const outcome = await endRun(parts, { id, stages, begun });
    saving.now();
    tools.lock.remember({ isComplete: true });
    return { outcome, reported: watching.reported, told: new Map(watching.reported.news()) };
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    watching.reported.save();
    saving.now();
  }
}

async function lookAll(place: Place): Promise<Watching> {
  await answerOf(place.client.api.work.restart.$post({ json: { runner: RUNNER } }));
  await register(place);
  const watching = await watchingOf(place);
  if ((await look(watching)) > 0) place.machine.looks.stop();
  await importLock(place);
  return watching;
}

function goOn(place: Place, changed: readonly string[]): Promise<Watching> {
  place.machine.looks.stop();
  place.lock.believe();
  return tellChanged(changed, place);
}
