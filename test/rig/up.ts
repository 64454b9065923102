// The real `sluice up` in a process of its own, on a free port, over a project on disk.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inject, onTestFinished } from 'vitest';
import { PROGRAM } from './cli.ts';

export interface Up {
  readonly url: string;
  readonly stderr: () => string;
  /** What it knows to have been made of what. */
  recordsOf(workflow: string): Promise<readonly { readonly entity: string }[]>;
  /** Ends it as `signal` would; its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Returns once everything was looked at for the first time. */
export async function startUp(cwd: string, ...args: string[]): Promise<Up> {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the program could not be built:\n${failure}`);
  const child = spawn(process.execPath, [PROGRAM, 'up', '--port', '0', ...args], {
    ...{ cwd, env: { PATH: process.env.PATH, HOME: cwd }, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  let stderr = '';
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => end(child, signal);
  onTestFinished(async () => void (await stop('SIGKILL')));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`up ended with ${child.exitCode}:\n${stderr}`);
    return /^watching /m.test(stderr);
  });
  const [, url] = /listening on (\S+)/.exec(stderr)!;
  const recordsOf = async (workflow: string) => {
    const token = readFileSync(join(cwd, '.sluice', 'admin-token'), 'utf8').trim();
    const answer = await fetch(`${url}/api/workflows/${workflow}/records`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    return (await answer.json()) as { entity: string }[];
  };
  return { url: url!, stderr: () => stderr, stop, recordsOf };
}

/** Asks again until it is so; the test's own time limit is the only one. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}
