// `sluice serve`: the control plane as a server on this machine, on an embedded file or a database by URL.

import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createApp, createStore } from '../api/app.ts';
import { listen } from '../api/node.ts';
import { isRemote } from '../api/open-database.ts';
import type { Parts } from '../api/parts.ts';
import { listTokens } from '../api/store/list-tokens.ts';
import { sweep } from '../api/store/sweep.ts';
import { takeOwnership, writeOwnerNote } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import { CliError, EXIT, type ExitCode, type Invocation, type Io, text, type Values } from './command.ts';
import { createParts, ensureOwnFolder, openOrExplain, THIS_PROCESS } from './control-plane.ts';

export const DEFAULT_PORT = 8484;
const SWEEP_EVERY_MS = 10_000;

export async function run({ values, io }: Invocation): Promise<ExitCode> {
  const { port, hostname } = addressOf(values);
  const own = ensureOwnFolder(projectRootOf(io.cwd));
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner === null) throw alreadyOwned();
  const url = text(values, 'db') ?? join(own, 'state.db');
  const parts = createParts(await openOrExplain(url, io), io);
  try {
    const app = createApp(parts);
    const tokenFile = isRemote(url) ? null : await keepAdminToken(app, own);
    if (!isLoopback(hostname)) await refuseWithoutTokens(parts, hostname);
    const server = await listenOrExplain(app, port, hostname);
    writeOwnerNote(join(own, 'owner.json'), { pid: process.pid, url: server.url });
    // Before it is announced: whoever reads that it listens may end it at once.
    const ended = untilSignal();
    io.stderr.write(`sluice is listening on ${server.url}\n`);
    if (tokenFile !== null) io.stderr.write(`the admin token is in ${tokenFile}\n`);
    const sweeping = setInterval(() => void sweepOnce(parts, io), SWEEP_EVERY_MS);
    await ended;
    clearInterval(sweeping);
    await server.stop();
    return EXIT.done;
  } finally {
    await parts.db.close();
    owner.release();
  }
}

function addressOf(values: Values): { port: number; hostname: string } {
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

async function listenOrExplain(app: ReturnType<typeof createApp>, port: number, hostname: string) {
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

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

function alreadyOwned(): CliError {
  return new CliError({
    code: 'already-running',
    message: 'another sluice is working in this project',
    hint: 'stop it first, or start this one in another directory',
    exitCode: EXIT.locked,
  });
}
