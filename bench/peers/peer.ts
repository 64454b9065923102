// What every peer is told to the benches as: the same work in its own words, two jobs at a time, each under a shell.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENV } from '../measure/command.ts';
import type { Role } from '../measure/contest.ts';

export const JOBS = 2;
export const LINKS = 100;

/** `each`: out/NAME from in/NAME by one `cat`. `chain`: link/100 from link/0 in a hundred such steps. */
export type Shape = 'each' | 'chain';
export type Workload =
  | 'cold'
  | 'nothing to do'
  | 'one changed'
  | 'one touched'
  | 'all touched'
  | 'chain cold'
  | 'chain nothing to do';

export interface Peer {
  readonly name: string;
  readonly role: Role;
  /** Null if it is not on this machine, or cannot run on it. */
  readonly version: string | null;
  /** The largest size that is worth the wait, where there is one; `other` is for what is not named. */
  readonly upTo: Readonly<Partial<Record<Workload | 'other', number>>>;
  /** Too slow for a bench of a few minutes beyond a hundred. */
  readonly isSlow?: true;
  /** Write what tells it the work. */
  readonly each: (folder: string, names: readonly string[]) => void;
  readonly chain: (folder: string) => void;
  readonly command: (shape: Shape) => readonly string[];
  /** What it leaves behind, to be removed before a cold run. */
  readonly state: readonly string[];
  /**
   * Takes a full and right out/ for made, in less than making it takes. What is empty needs none: it goes by the
   * clock. Null: there is no such way, so out/ is made by running it.
   */
  readonly adopt: readonly string[] | null;
  readonly watching: readonly Watching[];
}

/** How it watches, if it can. */
export interface Watching {
  readonly name: string;
  /** The most files already there that are worth the wait. */
  readonly upTo: number;
  /** How long it waits by its own rule before it believes a file. */
  readonly settleMs?: number;
  /** in/ and out/ are there and equal. */
  readonly prepare: (folder: string) => void;
  /** Stays until it is ended. */
  readonly command: readonly string[];
  /** How the line begins that says that it watches. */
  readonly ready?: string;
  /** Ends what a signal does not reach. */
  readonly stop?: readonly string[];
}

export const ANY = Number.POSITIVE_INFINITY;

export function limitOf({ upTo }: Peer, workload: Workload): number {
  return upTo[workload] ?? upTo.other ?? ANY;
}

export function links(): readonly (readonly [from: number, to: number])[] {
  return Array.from({ length: LINKS }, (_, i) => [i, i + 1]);
}

export function write(folder: string, name: string, lines: readonly string[]): void {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
}

export function writeJson(folder: string, name: string, value: unknown): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

export function run([program, ...args]: readonly string[], cwd: string): void {
  execFileSync(program!, args, { cwd, env: ENV, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 2 ** 28 });
}

export function isOnPath(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

export function versionOf(program: string): string | null {
  if (!isOnPath(program)) return null;
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0]!.trim();
}

export function npmVersionOf(name: string): string | null {
  const path = join('bench/.peers/node_modules', name, 'package.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version : null;
}
