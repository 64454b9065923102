// What `serve` and `up` share: the control plane listening on this machine, its note for other commands, its sweep.

import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { type createApp, createStore } from '../../api/app.ts';
import { type Answering, listen } from '../../api/node.ts';
import { isRemote } from '../../api/open-database.ts';
import type { Parts } from '../../api/parts.ts';
import { listTokens } from '../../api/store/list-tokens.ts';
import { sweep } from '../../api/store/sweep.ts';
import { writeOwnerNote } from '../../host/owner.ts';
import { CliError, type Io, text, type Values } from '../command.ts';
import { THIS_PROCESS } from '../control-plane.ts';

export const DEFAULT_PORT = 8484;
const SWEEP_EVERY_MS = 10_000;

export interface ServingOptions {
  readonly app: ReturnType<typeof createApp>;
  readonly parts: Parts;
  readonly address: Address;
  /** `.sluice/` of the project. */
  readonly own: string;
  /** Of the database. */
  readonly url: string;
  readonly io: Io;
  /** Called after whatever came over the network and may have changed something, a retry for instance. */
  readonly asked?: () => void;
}

export interface Serving {
  readonly url: string;
  /** Null if the tokens are in a database that others share. */
  readonly tokenFile: string | null;
  stop(): Promise<void>;
}

export async function startServing(options: ServingOptions): Promise<Serving> {
  const { app, parts, address, own, url, io, asked } = options;
  const tokenFile = isRemote(url) ? null : await keepAdminToken(app, own);
  if (!isLoopback(address.hostname)) await refuseWithoutTokens(parts, address.hostname);
  const server = await listenOrExplain(asked === undefined ? app : telling(app, asked), address);
  writeOwnerNote(join(own, 'owner.json'), { pid: process.pid, url: server.url });
  const sweeping = setInterval(() => void sweepOnce(parts, io), SWEEP_EVERY_MS);
  return {
    url: server.url,
    tokenFile,
    stop: async () => {
      clearInterval(sweeping);
      await server.stop();
      // Whoever comes next must not be sent to an address where nobody is.
      rmSync(join(own, 'owner.json'), { force: true });
    },
  };
}

export interface Address {
  readonly port: number;
  readonly hostname: string;
}

export function addressOf(values: Values): Address {
  const written = text(values, 'port') ?? String(DEFAULT_PORT);
  const port = Number(written);
  if (!/^\d{1,5}$/.test(written) || port > 65_535) {
    throw new CliError({
      code: 'bad-port',
      message: `--port ${written} is not a port`,
      hint: `write a number from 0 to 65535, for example --port ${DEFAULT_PORT}; 0 takes any free one`,
    });
  }
  return { port, hostname: text(values, 'host') ?? '127.0.0.1' };
}

/** Made on the first start, readable only by its owner; later starts use the same. */
async function keepAdminToken(app: ReturnType<typeof createApp>, own: string): Promise<string> {
  const file = join(own, 'admin-token');
  if (existsSync(file)) return file;
  const body = JSON.stringify({ name: 'admin (first start)', scopes: ['admin'] });
  const headers = { 'Content-Type': 'application/json' };
  const request = new Request('http://sluice.local/api/tokens', { method: 'POST', headers, body });
  const answer = await app.fetch(request, { trusted: THIS_PROCESS });
  const { token } = (await answer.json()) as { token: string };
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return file;
}

async function refuseWithoutTokens({ db }: Parts, hostname: string): Promise<void> {
  const tokens = await listTokens(db, { after: 0, limit: 1_000 });
  if (tokens.some(({ revoked_at }) => revoked_at === null)) return;
  throw new CliError({
    code: 'no-tokens',
    message: `${hostname} can be reached by other machines, and there is no token yet`,
    hint: 'make one with `sluice token create NAME --scope admin` first',
  });
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '::1') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}

function telling(app: Answering, asked: () => void): Answering {
  return {
    fetch: async (request, env) => {
      const answer = await app.fetch(request, env);
      if (request.method !== 'GET' && request.method !== 'HEAD') asked();
      return answer;
    },
  };
}

async function listenOrExplain(app: Answering, { port, hostname }: Address) {
  try {
    return await listen(app, { port, hostname });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new CliError({
      code: 'cannot-listen',
      message: `cannot listen on ${hostname}:${port} (${code})`,
      hint:
        code === 'EADDRINUSE'
          ? 'another program has that port; choose one with --port'
          : 'check --host and --port',
      cause,
    });
  }
}

/** What goes wrong is told and tried again: the next claim sweeps too. */
async function sweepOnce(parts: Parts, io: Io): Promise<void> {
  try {
    await sweep(createStore(parts));
  } catch (error) {
    io.stderr.write(`sweeping failed: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
