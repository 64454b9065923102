// The real `sluice serve` in a process of its own, on a free port.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { PROGRAM } from './cli.ts';

export interface Serving {
  readonly url: string;
  readonly stderr: () => string;
  /** With the admin token of its project. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Ends it as `signal` would; its exit code. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

export async function startServe(cwd: string, ...args: string[]): Promise<Serving> {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the program could not be built:\n${failure}`);
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', ...args], {
    ...{ cwd, env: { PATH: process.env.PATH, HOME: cwd }, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  let stderr = '';
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
  });
  const stop = (signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM') => end(child, signal);
  onTestFinished(async () => void (await stop()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr!.on('data', () => {
      const [, listening] = /listening on (\S+)/.exec(stderr) ?? [];
      if (listening !== undefined) resolve(listening);
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}:\n${stderr}`)));
  });
  return {
    url,
    stderr: () => stderr,
    stop,
    ask: (path, init) => {
      const token = readFileSync(join(cwd, '.sluice', 'admin-token'), 'utf8').trim();
      return fetch(url + path, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${token}` } });
    },
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}
