// The control plane in each of its shapes, behind one way to ask it.

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../api/app.ts';
import { listen } from '../../api/node.ts';
import { openDatabase } from '../../api/open-database.ts';
import type { Caller, Parts } from '../../api/parts.ts';
import type { Database } from '../../api/store/database.ts';
import { migrate } from '../../api/store/migrate.ts';
import { openRemote } from '../../api/store/remote.ts';
import { loadBlake3 } from '../../host/blake3.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { startSqld } from '../../test/rig/sqld.ts';
import { startWorkerd } from '../../test/rig/workerd.ts';

export interface Plane {
  readonly name: string;
  ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

const BENCH: Caller = { kind: 'process', name: 'bench', scopes: ['admin'], workflow: null, target: null };

export function partsOn(db: Database): Parts {
  return {
    db,
    hash: loadBlake3().hash,
    nowMs: Date.now,
    randomBytes,
    version: SLUICE_VERSION,
    access: null,
    // What is measured is the cost of a request, not the patience of the limit.
    rate: { perSecond: 1e9, burst: 1e9 },
    report: (error) => console.error(error),
  };
}

declare const SLUICE_VERSION: string;

export async function embeddedPlane(): Promise<Plane & { readonly db: Database }> {
  const { file, remove } = temporaryDatabase();
  const db = await openDatabase({ url: file }, Date.now());
  const ask = askingApp(createApp(partsOn(db)));
  const stop = async () => {
    await db.close();
    remove();
  };
  return { name: 'in process', ask, stop, db };
}

/** In a process of its own, so that the server does not share its core with those who ask. */
export async function nodePlane(): Promise<Plane> {
  const child = fork(process.argv[1]!, ['--as-server'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ url, token }] = (await once(child, 'message')) as [{ url: string; token: string }];
  const http = askingOver(url, token);
  const stop = async () => {
    http.close();
    child.send('stop');
    await once(child, 'exit');
  };
  return { name: 'Node over HTTP', ask: http.ask, stop };
}

/** What the forked process does. */
export async function serve(): Promise<void> {
  const { file, remove } = temporaryDatabase();
  const db = await openDatabase({ url: file }, Date.now());
  const app = createApp(partsOn(db));
  const server = await listen(app, { port: 0, hostname: '127.0.0.1' });
  process.send!({ url: server.url, token: await makeToken(askingApp(app)) });
  await once(process, 'message');
  await server.stop();
  await db.close();
  remove();
  process.disconnect();
}

export async function workerdPlane(): Promise<Plane> {
  const sqld = await startSqld();
  const db = openRemote({ url: sqld.url });
  await migrate(db, MIGRATIONS, Date.now());
  const token = await makeToken(askingApp(createApp(partsOn(db))));
  const entry = new URL('api/worker.ts', `file://${process.cwd()}/`);
  const workerd = await startWorkerd(entry, { bindings: { LIBSQL_URL: sqld.url } });
  const http = askingOver(workerd.url, token);
  const stop = async () => {
    http.close();
    await workerd.stop();
    await db.close();
    await sqld.stop();
  };
  return { name: 'workerd on sqld', ask: http.ask, stop };
}

export function temporaryDatabase(): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  return { file: join(folder, 'state.db'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

export function askingApp(app: ReturnType<typeof createApp>): Plane['ask'] {
  return async (method, path, body) => {
    const init = body === undefined ? {} : { headers: JSON_TYPE, body: textOf(body) };
    const answer = await app.fetch(new Request(`http://sluice.local${path}`, { method, ...init }), {
      trusted: BENCH,
    });
    return read(path, answer.status, await answer.text());
  };
}

/** By `node:http`: the global fetch costs more than the server that it asks. */
function askingOver(url: string, token: string): { readonly ask: Plane['ask']; close(): void } {
  const agent = new Agent({ keepAlive: true });
  const headers = { Authorization: `Bearer ${token}`, ...JSON_TYPE };
  const ask: Plane['ask'] = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, agent, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          try {
            resolve(read(path, answer.statusCode!, Buffer.concat(chunks).toString()));
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : textOf(body));
    });
  return { ask, close: () => agent.destroy() };
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function read<Answer>(path: string, status: number, text: string): Answer {
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as Answer;
}

async function makeToken(ask: Plane['ask']): Promise<string> {
  const { token } = await ask<{ token: string }>('POST', '/api/tokens', { name: 'bench', scopes: ['admin'] });
  return token;
}
