// Ends a process group: asks, waits, then kills.

import { setTimeout as delay } from 'node:timers/promises';
import { runningIn } from './platform.ts';

/** How long the kernel may take to carry out a kill before we stop looking. */
const KILL_WAIT_MS = 2_000;
const LONGEST_LOOK_MS = 50;

/** Whether anything had to be ended. Returns once nothing of the group runs any more. */
export async function endGroup(group: number, graceMs: number): Promise<boolean> {
  if (!isRunning(group)) return false;
  await stopGroup(group, graceMs);
  return true;
}

/** Signals first and looks after: looking takes milliseconds, in which a command goes on. */
export async function stopGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  // A stopped process sees no signal but this one and the kill.
  signalGroup(group, 'SIGCONT');
  if (await isGoneWithin(group, graceMs)) return;
  signalGroup(group, 'SIGKILL');
  await isGoneWithin(group, KILL_WAIT_MS);
}

export function isRunning(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  // The dead whom nobody has reaped still answer, and a first process that never reaps is common in containers.
  return (runningIn(group)?.length ?? 1) > 0;
}

/** False if there is no such group. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  // kill(-1) reaches every process of the machine, kill(0) ourselves.
  if (!Number.isSafeInteger(group) || group <= 1) throw new Error(`not a process group: ${group}`);
  try {
    return process.kill(-group, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    if (code === 'EPERM') return true;
    throw error;
  }
}

async function isGoneWithin(group: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  // Nobody tells when a group has become empty: its members are not our children.
  for (let wait = 1; isRunning(group); wait = Math.min(wait * 2, LONGEST_LOOK_MS)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(wait, left));
  }
  return true;
}
