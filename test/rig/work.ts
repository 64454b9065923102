// The real `sluice work` in a process of its own, and what a watcher beside it would say.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import { PROGRAM } from './cli.ts';
import { until } from './up.ts';

export interface Working {
  readonly pid: number;
  readonly stderr: () => string;
  readonly exitCode: () => number | null;
  signal(signal: NodeJS.Signals): void;
  /** Ends it as `signal` would; its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface WorkPlace {
  readonly cwd: string;
  readonly url: string;
  readonly token: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns once it has said that it is working. */
export async function startWork({ cwd, url, token, env }: WorkPlace, ...args: string[]): Promise<Working> {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the program could not be built:\n${failure}`);
  const child = spawn(process.execPath, [PROGRAM, 'work', '--api', url, ...args], {
    ...{ cwd, stdio: ['ignore', 'ignore', 'pipe'] },
    env: { PATH: process.env.PATH, HOME: cwd, SLUICE_TOKEN: token, ...env },
  });
  let stderr = '';
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => end(child, signal);
  onTestFinished(async () => {
    child.kill('SIGCONT');
    await stop('SIGKILL');
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`work ended with ${child.exitCode}:\n${stderr}`);
    return /^working for /m.test(stderr);
  });
  return {
    pid: child.pid!,
    stderr: () => stderr,
    exitCode: () => child.exitCode,
    signal: (signal) => void child.kill(signal),
    stop,
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}

export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

export async function post(ask: Ask, path: string, body: unknown): Promise<unknown> {
  const response = await ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** As `sluice push --root` would. */
export async function register(
  ask: Ask,
  name: string,
  { source, root, target = 'local' }: { source: string; root: string; target?: string },
): Promise<string> {
  const query = new URLSearchParams({ root, target });
  const response = await ask(`/api/workflows/${name}?${query}`, { method: 'PUT', body: source });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return ((await response.json()) as { definition: string }).definition;
}

/** Writes a file and says so as a watcher would; `at` is where it is registered, if that is elsewhere. */
export async function drop(ask: Ask, file: string, content: string, { at = file } = {}): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  const bytes = Buffer.from(content);
  const observations = [{ path: at, hash: asBlake3(loadBlake3().hash(bytes)), size: bytes.length }];
  await post(ask, '/api/observations', { target: 'local', watcher: 'the test', observations });
}

export interface StateSeen {
  readonly stage: string;
  readonly entity: string;
  readonly status: string;
  readonly error: string | null;
  readonly runner: string | null;
}

export async function states(ask: Ask, workflow: string): Promise<readonly StateSeen[]> {
  const response = await ask(`/api/workflows/${workflow}/states?limit=1000`);
  return (await response.json()) as StateSeen[];
}

export function adminToken(root: string): string {
  return readFileSync(join(root, '.sluice', 'admin-token'), 'utf8').trim();
}
