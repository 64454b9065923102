// What only the operating system knows about processes: the one file that differs between systems.
//
// Tested on Linux. Elsewhere there is no /proc: what cannot be told is null, and callers then do less, not worse.

import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

export interface ProcessFacts {
  readonly pid: number;
  /** The process group. */
  readonly group: number;
  /** Clock ticks since boot; with the pid it names a process for good. */
  readonly startTime: string;
  readonly isZombie: boolean;
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** null: no such process, or a system that does not tell. */
export function factsOf(pid: number): ProcessFacts | null {
  const stat = readProc(`${pid}/stat`);
  if (stat === null) return null;
  // The name stands in parentheses and may hold any character, so fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    group: Number(fields[2]),
    startTime: fields[19]!,
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** The processes of a group that still run; null on a system that does not tell. */
export function runningIn(group: number): readonly ProcessFacts[] | null {
  const names = namesInProc();
  if (names === null) return null;
  return names
    .filter((name) => /^\d+$/.test(name))
    .map((name) => factsOf(Number(name)))
    .filter((facts) => facts !== null)
    .filter((facts) => facts.group === group && !facts.isZombie);
}

/** The pid that was given out last; null on a system that does not tell. */
export function newestPid(): number | null {
  const text = readProc('sys/kernel/ns_last_pid');
  return text === null ? null : Number(text);
}

/** Up to so many it is cheaper to ask for each pid that was given out meanwhile than to list all processes. */
const MOST_ASKED_FOR = 100;

/**
 * Who runs in a group besides `leader`, of those that were started after `newestBefore` was the newest pid (null: at
 * any time). Null on a system that does not tell.
 */
export function othersIn(
  group: number,
  leader: number,
  newestBefore: number | null,
): readonly number[] | null {
  const newest = newestBefore === null ? null : newestPid();
  const given = newest === null ? -1 : newest - newestBefore!;
  // Below zero they have started again from the lowest.
  if (given < 0 || given > MOST_ASKED_FOR)
    return runningIn(group)?.flatMap(({ pid }) => (pid === leader ? [] : [pid])) ?? null;
  const pids = Array.from({ length: given }, (_, i) => newestBefore! + 1 + i);
  return pids.filter((pid) => pid !== leader && existsSync(`/proc/${pid}`) && isRunningIn(group, pid));
}

function isRunningIn(group: number, pid: number): boolean {
  const facts = factsOf(pid);
  return facts !== null && facts.group === group && !facts.isZombie;
}

/** As it was when the process started its program; empty if it may not be read. */
export function environmentOf(pid: number): readonly string[] {
  return readProc(`${pid}/environ`)?.split('\0') ?? [];
}

/** Start times count from boot, so they mean nothing after the next one. */
export function bootId(): string {
  return readProc('sys/kernel/random/boot_id')?.trim() ?? 'unknown';
}

/** The absolute path of a program as a shell in `cwd` would find it. */
export function findProgram(name: string, cwd: string, path: string = DEFAULT_PATH): string | null {
  if (name === '') return null;
  const places = name.includes('/')
    ? [name]
    : path.split(delimiter).map((folder) => `${folder || '.'}/${name}`);
  return places.map((place) => resolve(cwd, place)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function readProc(file: string): string | null {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return null;
  }
}

function namesInProc(): readonly string[] | null {
  // Other systems have no /proc, or one that is not about processes.
  return readProc('self/stat') === null ? null : readdirSync('/proc');
}
