// Starts commands so that none outlives the runner: journalled and watched before it starts, forgotten after.

import type { Journal } from './journal.ts';
import { factsOf, findProgram, newestPid, othersIn } from './platform.ts';
import { endGroup, stopGroup } from './process-group.ts';
import { Slot, type SlotEnd } from './slot.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface Supervisor {
  /** By its absolute path. */
  readonly sh: string;
  /** null if no shell could be had to start it. */
  start(launch: string, workDir: string): Running | null;
  /** Notes what is about to be made beside its place; the answer is to be called when nothing of it is left. */
  making(paths: readonly string[]): () => void;
  /** For when nothing runs any more. */
  close(): Promise<void>;
}

export interface Running {
  readonly group: number;
  readonly ended: Promise<SlotEnd>;
  /** Ends it before its time: asks, waits, then kills. */
  stop(graceMs: number): Promise<void>;
  /** To be called once `ended` is there: ends what the command left behind and says whether there was anything. */
  finish(graceMs: number): Promise<boolean>;
}

export interface Shells {
  readonly sh: string;
  /** Whether the system tells what is left of a group besides its leader; if not, a slot serves only one command. */
  readonly tellsOthers: boolean;
}

export function createSupervisor(journal: Journal, shells: Shells = findShells()): Supervisor {
  const watchdog = startWatchdog(shells.sh);
  const idle: Held[] = [];
  const own: Own = { shells, idle, watchdog, journal };
  return {
    sh: shells.sh,
    start(launch, workDir) {
      const held = takeIdle(own) ?? open(own);
      if (held === null) return null;
      const { slot, group, startTime } = held;
      journal.started({ id: group, startTime, workDir });
      const newestBefore = newestPid();
      const ended = slot.run(launch);
      if (!shells.tellsOthers) slot.retire();
      return {
        ...{ group, ended },
        stop: async (graceMs) => {
          slot.retire();
          await stopGroup(group, graceMs);
        },
        finish: (graceMs) => finish(own, held, { graceMs, newestBefore }),
      };
    },
    making: (paths) => journal.making(paths),
    async close() {
      await Promise.all(idle.splice(0).map((held) => letGo(own, held)));
      await watchdog.close();
    },
  };
}

/** Elsewhere than on Linux there is no /proc to look into. */
export function findShells(path: string | undefined = process.env.PATH): Shells {
  const sh = findProgram('sh', '/', path) ?? '/bin/sh';
  return { sh, tellsOthers: othersIn(process.pid, process.pid, null) !== null };
}

interface Held {
  readonly slot: Slot;
  readonly group: number;
  readonly startTime: string | null;
}

interface Own {
  readonly shells: Shells;
  readonly idle: Held[];
  readonly watchdog: Watchdog;
  readonly journal: Journal;
}

/** Unless somebody killed its shell meanwhile. */
function takeIdle(own: Own): Held | null {
  for (let held = own.idle.pop(); held !== undefined; held = own.idle.pop()) {
    if (held.slot.isUsable) return held;
    void letGo(own, held);
  }
  return null;
}

function open({ shells, watchdog }: Own): Held | null {
  const slot = new Slot(shells.sh);
  const group = slot.pid;
  if (group === null) return null;
  watchdog.watch(group);
  return { slot, group, startTime: factsOf(group)?.startTime ?? null };
}

async function finish(
  own: Own,
  held: Held,
  { graceMs, newestBefore }: { readonly graceMs: number; readonly newestBefore: number | null },
): Promise<boolean> {
  const { slot, group } = held;
  if (slot.isUsable && othersIn(group, group, newestBefore)?.length === 0) {
    own.journal.ended(group);
    own.idle.push(held);
    return false;
  }
  return letGo(own, held, graceMs);
}

/** Without its shell all that is in the group was left behind. */
async function letGo({ watchdog, journal }: Own, { slot, group }: Held, graceMs = 0): Promise<boolean> {
  await slot.close();
  const leftBehind = await endGroup(group, graceMs);
  watchdog.forget(group);
  journal.gone(group);
  return leftBehind;
}
