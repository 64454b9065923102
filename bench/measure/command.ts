// Runs one command and tells what it took: seconds, CPU seconds, and the largest process in megabytes.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { Cost } from './contest.ts';

const TIME = '/usr/bin/time';
const HAS_TIME = existsSync(TIME);
if (!HAS_TIME) console.log('/usr/bin/time is missing: neither CPU nor memory of commands is measured');

/** The least that programs need, and the peers from npm. */
export const ENV = {
  PATH: `${process.cwd()}/bench/.peers/node_modules/.bin:${process.env.PATH}`,
  HOME: process.env.HOME,
  LANG: 'C.UTF-8',
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};

export function measureCommand(command: readonly string[], cwd: string): Cost & { readonly stdout: string } {
  const report = `${cwd}.time`;
  const [program, ...args] = HAS_TIME ? [TIME, '-o', report, '-f', '%U %S %M', ...command] : command;
  const begun = process.hrtime.bigint();
  const ended = spawnSync(program!, args, {
    ...{ cwd, env: ENV, encoding: 'utf8', maxBuffer: 2 ** 28 },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  if (ended.status !== 0) {
    const said = ended.error?.message ?? ended.stderr.slice(-300).trim();
    throw new Error(`${command[0]} ended with ${ended.status}: ${said}`);
  }
  const { stdout } = ended;
  if (!HAS_TIME) return { seconds, cpuSeconds: null, peakMb: null, stdout };
  const [user, system, kilobytes] = readFileSync(report, 'utf8').trim().split(' ').map(Number);
  rmSync(report);
  return { seconds, cpuSeconds: user! + system!, peakMb: kilobytes! / 1024, stdout };
}
