// Runs one command and tells what it took: seconds, CPU seconds, and the largest process in megabytes.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';

const TIME = '/usr/bin/time';
export const HAS_TIME = existsSync(TIME);

export function measureCommand([program, ...args], cwd) {
  const report = `${cwd}.time`;
  const [run, runArgs] = HAS_TIME
    ? [TIME, ['-o', report, '-f', '%U %S %M', program, ...args]]
    : [program, args];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C.UTF-8' };
  const begun = process.hrtime.bigint();
  const ended = spawnSync(run, runArgs, {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 2 ** 28,
  });
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  if (ended.status !== 0)
    throw new Error(`${program} ended with ${ended.status}: ${String(ended.stderr).slice(-300).trim()}`);
  if (!HAS_TIME) return { seconds, cpuSeconds: null, peakMb: null };
  const [user, system, kilobytes] = readFileSync(report, 'utf8').trim().split(' ').map(Number);
  rmSync(report);
  return { seconds, cpuSeconds: user + system, peakMb: kilobytes / 1024 };
}
