// The three shapes of the control plane for tests: in this process, behind a Node server, and in workerd on sqld.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../api/app.ts';
import { hashToken, makeToken } from '../../api/auth/token.ts';
import { listen } from '../../api/node.ts';
import { openDatabase } from '../../api/open-database.ts';
import type { Caller, Parts } from '../../api/parts.ts';
import { createToken } from '../../api/store/create-token.ts';
import { type Database, sql } from '../../api/store/database.ts';
import { migrate } from '../../api/store/migrate.ts';
import { openRemote } from '../../api/store/remote.ts';
import { loadBlake3 } from '../../host/blake3.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { startSqld } from './sqld.ts';
import { startBuiltWorker } from './workerd.ts';

export interface Shape {
  readonly name: 'in process' | 'node server' | 'workerd';
  /** A request with all rights, unless its headers bring their own token. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The rig's own connection; in process and on Node it is the server's, so `db.stats` counts what it asks. */
  readonly db: Database;
  /** Where it listens; null in process. */
  readonly url: string | null;
  readonly parts: Parts | null;
  /** What the server called its own failures. */
  readonly reported: unknown[];
  passTime(ms: number): Promise<void>;
  /** Nothing is registered and nothing is known, except tokens. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export const ADMIN: Caller = {
  kind: 'process',
  name: 'the test',
  scopes: ['admin'],
  workflow: null,
  target: null,
};

export async function startInProcess(): Promise<Shape> {
  const { parts, clock, reported, close } = await openEmbeddedParts();
  const app = createApp(parts);
  return {
    name: 'in process',
    url: null,
    db: parts.db,
    parts,
    reported,
    fetch: async (path, init) => {
      const request = new Request(`http://sluice.local${path}`, init);
      // Whoever brings a token is taken at it.
      return app.fetch(request, request.headers.has('Authorization') ? {} : { trusted: ADMIN });
    },
    passTime: async (ms) => {
      clock.ms += ms;
    },
    reset: () => empty(parts.db),
    stop: close,
  };
}

export async function startNodeServer(): Promise<Shape> {
  const { parts, clock, reported, close } = await openEmbeddedParts();
  const server = await listen(createApp(parts), { port: 0, hostname: '127.0.0.1' });
  const token = await adminToken(parts.db, clock.ms);
  return {
    name: 'node server',
    url: server.url,
    db: parts.db,
    parts,
    reported,
    fetch: (path, init) => fetch(server.url + path, withToken(init, token)),
    passTime: async (ms) => {
      clock.ms += ms;
    },
    reset: () => empty(parts.db),
    stop: async () => {
      await server.stop();
      await close();
    },
  };
}

export async function startInWorkerd(): Promise<Shape> {
  const sqld = await startSqld();
  const db = openRemote({ url: sqld.url });
  await migrate(db, MIGRATIONS, Date.now());
  const token = await adminToken(db, Date.now());
  const worker = await startBuiltWorker({ bindings: { LIBSQL_URL: sqld.url } });
  return {
    name: 'workerd',
    url: worker.url,
    db,
    parts: null,
    reported: [],
    fetch: (path, init) => worker.fetch(path, withToken(init, token)),
    passTime: (ms) => shiftTimes(db, ms),
    reset: () => empty(db),
    stop: async () => {
      await worker.stop();
      await db.close();
      await sqld.stop();
    },
  };
}

export async function openEmbeddedParts() {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-control-plane-'));
  const clock = { ms: Date.UTC(2026, 0, 15, 10) };
  const reported: unknown[] = [];
  const db = await openDatabase({ url: `file:${join(directory, 'state.db')}` }, clock.ms);
  const parts: Parts = {
    db,
    hash: loadBlake3().hash,
    nowMs: () => clock.ms,
    randomBytes: (count) => randomBytes(count),
    version: '0.0.0-test',
    access: null,
    // The clock stands still, so no bucket fills again.
    rate: { perSecond: 1, burst: Number.MAX_SAFE_INTEGER },
    report: (error) => reported.push(error),
  };
  const close = async () => {
    await db.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { parts, clock, reported, close };
}

export async function adminToken(db: Database, nowMs: number): Promise<string> {
  const token = makeToken((count) => randomBytes(count));
  const all = { workflow: null, target: null, created_at: nowMs, created_by: 'the test', expires_at: null };
  await createToken(db, {
    name: 'admin',
    hash: hashToken(loadBlake3().hash, token),
    scopes: 'admin',
    ...all,
  });
  return token;
}

function withToken(init: RequestInit = {}, token: string): RequestInit {
  const headers = new Headers(init.headers);
  if (!headers.has('Authorization')) headers.set('Authorization', `Bearer ${token}`);
  return { ...init, headers };
}

/** For a server whose clock we do not have: all that was noted is older, and all that is due is nearer. */
async function shiftTimes(db: Database, ms: number): Promise<void> {
  const columns = [
    ...['states.lease_until', 'states.stale_since', 'states.produced_at', 'attempts.lease_until'],
    ...['attempts.started_at', 'failures.retry_at', 'failures.first_failed_at', 'failures.last_failed_at'],
    'tokens.expires_at',
  ];
  const shifts = columns.map((column) => {
    const [table, name] = column.split('.');
    return sql(`UPDATE ${table} SET ${name} = ${name} - ? WHERE ${name} IS NOT NULL`, ms);
  });
  await db.batch(shifts, 'write');
}

const KEPT = ['sluice_migrations', 'tokens', 'counters'];

async function empty(db: Database): Promise<void> {
  const [tables] = await db.batch(
    [
      sql(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_%' ESCAPE '\\'",
      ),
    ],
    'read',
  );
  const names = tables!.rows.map(({ name }) => name as string).filter((name) => !KEPT.includes(name));
  // States last: what hangs on them is gone before their triggers look for it.
  const ordered = [...names.filter((name) => name !== 'states'), 'states'];
  const deletes = ordered.map((name) => sql(`DELETE FROM ${name}`));
  await db.batch([...deletes, sql("UPDATE counters SET value = value + 1 WHERE name = 'registry'")], 'write');
}
