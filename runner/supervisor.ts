// Starts commands so that none outlives the runner: journalled and watched before it starts, forgotten after.

import type { Journal } from './journal.ts';
import { factsOf, findProgram } from './platform.ts';
import { endGroup } from './process-group.ts';
import { type Shells, Slot, type SlotEnd } from './slot.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface Supervisor {
  /** null if no shell could be had to start it. What is aborted before its shell is there is not launched. */
  start(launch: string, workDir: string, signal?: AbortSignal): Promise<Running | null>;
  /** Notes what is about to be made beside its place; the answer is to be called when nothing of it is left. */
  making(paths: readonly string[]): () => void;
  /** For when nothing runs any more. */
  close(): Promise<void>;
}

export interface Running {
  readonly group: number;
  readonly ended: Promise<SlotEnd>;
  /** To be called once `ended` is there: ends what the command left behind and says whether there was anything. */
  finish(graceMs: number): Promise<boolean>;
}

/** The waiting shell ends, and its slot is free for the next. */
const NOTHING = 'exit\n';

export function createSupervisor(journal: Journal, shells: Shells = findShells()): Supervisor {
  const watchdog = startWatchdog(shells.sh);
  const idle: Slot[] = [];
  return {
    async start(launch, workDir, signal) {
      const begun = await beginSomewhere(idle, shells);
      if (begun === null) return null;
      const { slot, group } = begun;
      journal.started({ id: group, startTime: factsOf(group)?.startTime ?? null, workDir });
      watchdog.watch(group);
      const ended = slot.go(signal?.aborted ? NOTHING : launch);
      const finish = (graceMs: number) => finishCommand({ slot, group, graceMs, idle, watchdog, journal });
      return { group, ended, finish };
    },
    making: (paths) => journal.making(paths),
    async close() {
      await Promise.all(idle.splice(0).map((slot) => slot.close()));
      await watchdog.close();
    },
  };
}

/** `setsid` is missing on macOS, for one. */
export function findShells(path: string | undefined = process.env.PATH): Shells {
  const sh = findProgram('sh', '/', path) ?? '/bin/sh';
  return { sh, setsid: findProgram('setsid', '/', path) };
}

/** In an idle slot, unless somebody killed its shell meanwhile. */
async function beginSomewhere(idle: Slot[], shells: Shells): Promise<{ slot: Slot; group: number } | null> {
  for (let slot = idle.pop(); slot !== undefined; slot = idle.pop()) {
    const group = await slot.begin();
    if (group !== null) return { slot, group };
  }
  const slot = new Slot(shells);
  const group = await slot.begin();
  return group === null ? null : { slot, group };
}

interface Finishing {
  readonly slot: Slot;
  readonly group: number;
  readonly graceMs: number;
  readonly idle: Slot[];
  readonly watchdog: Watchdog;
  readonly journal: Journal;
}

async function finishCommand(all: Finishing): Promise<boolean> {
  const { slot, group, graceMs, idle, watchdog, journal } = all;
  // Where the slot's shell is in the command's group, it would otherwise count as left behind.
  if (!slot.isReusable) await slot.close();
  const leftBehind = await endGroup(group, graceMs);
  watchdog.forget(group);
  journal.ended(group);
  if (slot.isReusable) idle.push(slot);
  return leftBehind;
}
