// The routes of tokens on a real database in a directory of their own, with a clock that stands still.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { createGuard } from '../../../api/auth/guard.ts';
import { DEFAULT_RATE } from '../../../api/auth/rate-limit.ts';
import { equip } from '../../../api/http/equip.ts';
import { handleError } from '../../../api/http/handle-error.ts';
import { allow } from '../../../api/http/route.ts';
import type { AppEnv, Caller, Parts } from '../../../api/parts.ts';
import { tokenRoutes } from '../../../api/routes/tokens.ts';
import type { Database } from '../../../api/store/database.ts';
import { openEmbedded } from '../../../api/store/embedded.ts';
import { migrate } from '../../../api/store/migrate.ts';
import { loadBlake3 } from '../../../host/blake3.ts';
import { MIGRATIONS } from '../../../schema/migrations.ts';

export const ROOT: Caller = {
  kind: 'process',
  name: 'root',
  scopes: ['admin'],
  workflow: null,
  target: null,
};

export interface Made {
  readonly id: number;
  readonly token: string;
}

export interface TokenRig {
  readonly db: Database;
  readonly clock: { ms: number };
  /** A process of its own on the same database. */
  start(over?: Partial<Parts>): Server;
  stop(): Promise<void>;
}

export interface Server {
  readonly app: Hono<AppEnv>;
  readonly reported: unknown[];
  make(body: Record<string, unknown>): Promise<Made>;
  /** GET /read with this token. */
  read(token: string): Promise<Response>;
  asRoot(method: string, path: string, body?: unknown): Promise<Response>;
}

export async function startTokenRig(): Promise<TokenRig> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-tokens-'));
  const db = openEmbedded({ file: join(directory, 'state.db') });
  const clock = { ms: Date.UTC(2026, 0, 15, 10) };
  await migrate(db, MIGRATIONS, clock.ms);
  const parts = {
    db,
    hash: loadBlake3().hash,
    nowMs: () => clock.ms,
    randomBytes: (count: number) => randomBytes(count),
    version: '0.0.0-test',
    access: null,
    rate: DEFAULT_RATE,
    report: () => {},
  };
  return {
    db,
    clock,
    start: (over = {}) => startServer({ ...parts, ...over }),
    stop: async () => {
      await db.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function startServer(parts: Parts): Server {
  const reported: unknown[] = [];
  const app = new Hono<AppEnv>();
  app.onError(handleError({ report: (error) => reported.push(error), randomBytes: parts.randomBytes }));
  app.use(equip(parts, createGuard(parts)));
  app.route('/', tokenRoutes);
  app.get('/read', allow('read', { summary: 'who am I' }), (c) => c.json(c.var.caller));
  const asRoot = async (method: string, path: string, body?: unknown) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    return app.fetch(new Request(`http://sluice${path}`, init), { trusted: ROOT });
  };
  return {
    app,
    reported,
    asRoot,
    make: async (body) => (await (await asRoot('POST', '/api/tokens', body)).json()) as Made,
    read: async (token) => app.request('/read', { headers: { Authorization: `Bearer ${token}` } }),
  };
}
