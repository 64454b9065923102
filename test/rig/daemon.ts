// A command that stays until it is ended, in a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { inject, onTestFinished } from 'vitest';
import { PROGRAM } from './cli.ts';
import { until } from './up.ts';

export interface Daemon {
  readonly stderr: () => string;
  /** Of the process, while it lives. */
  readonly pid: number;
  said(text: string | RegExp): Promise<void>;
  /** Ends it as `signal` would; its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Returns once it has said what it says when it is ready. */
export async function startDaemon(cwd: string, args: readonly string[], ready: RegExp): Promise<Daemon> {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the program could not be built:\n${failure}`);
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    ...{ cwd, env: { PATH: process.env.PATH, HOME: cwd }, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  let stderr = '';
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => end(child, signal);
  onTestFinished(async () => void (await stop('SIGKILL')));
  const said = (text: string | RegExp) =>
    until(() => {
      if (typeof text === 'string' ? stderr.includes(text) : text.test(stderr)) return true;
      if (child.exitCode !== null) throw new Error(`${args[0]} ended with ${child.exitCode}:\n${stderr}`);
      return false;
    });
  await said(ready);
  return { stderr: () => stderr, pid: child.pid!, said, stop };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}
