// One run in this process: the control plane, the watcher's look and the runner, composed around one workflow.
//
//   register ──▶ look at the disk ──▶ take the lock file's records ──▶ begin the run
//       ──▶ work until nothing is left ──▶ tell how every state came out

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { answerOf } from '../../host/client.ts';
import type { Reported } from '../../watcher/reported.ts';
import { inProcess } from '../control-plane.ts';
import { stemOf } from '../load-file.ts';
import { explained } from '../refused.ts';
import { Ask } from './ask.ts';
import { beginRun } from './begin-run.ts';
import { endRun } from './end-run.ts';
import { EventLog } from './event-log.ts';
import { keepClean } from './keep-clean.ts';
import { KeepResults } from './keep-results.ts';
import { importLock, lockOf, look, RUNNER, register, watchingOf } from './look.ts';
import { openMachine } from './machine.ts';
import { openState } from './open-state.ts';
import { Recipes } from './recipes.ts';
import { type RunOutcome, type RunParts, type RunRequest, Stop, type Tools } from './run-parts.ts';
import { Saving } from './saving.ts';
import { workHere } from './work-here.ts';

export async function runHere(request: RunRequest): Promise<RunOutcome> {
  const { loaded, project, io } = request;
  const own = join(project, '.sluice');
  mkdirSync(own, { recursive: true });
  const root = dirname(loaded.path);
  const lookedAtMs = Date.now();
  const machine = await openMachine({ workflow: loaded.workflow, path: loaded.path, root, own });
  try {
    const lock = lockOf(loaded, { project, own, blake3: machine.blake3 });
    const reached = inProcess(await openState(own, io, request.warn), io);
    const tools = { client: reached.client, machine, lock, own, root };
    let done: Done;
    try {
      done = await toTheEnd(partsOf(request, tools));
    } catch (error) {
      throw explained(error);
    } finally {
      await reached.close();
    }
    const { outcome, reported } = done;
    if (outcome.results.length === 0) keepClean(request, outcome.cached, { ...tools, reported, lookedAtMs });
    return outcome;
  } finally {
    await machine.close();
  }
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
  const kept = new KeepResults({ workflow, log, lock, saving, report, warn, progress, failed });
  const ask = new Ask(client, workflow.name);
  const recipes = new Recipes(client, machine.hash);
  return { request, tools, ask, log, saving, kept, recipes, stop };
}

interface Done {
  readonly outcome: RunOutcome;
  readonly reported: Reported;
}

async function toTheEnd(parts: RunParts): Promise<Done> {
  const { request, tools, stop, saving } = parts;
  const begun = performance.now();
  await answerOf(tools.client.api.work.restart.$post({ json: { runner: RUNNER } }));
  const place = { ...tools, ...request };
  await register(place);
  const watching = await watchingOf(place);
  if ((await look(watching)) > 0) tools.machine.looks.stop();
  await importLock(place);
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
    tools.lock.remember();
    return { outcome, reported: watching.reported };
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    watching.reported.save();
    saving.now();
  }
}
