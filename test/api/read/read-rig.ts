// A control plane on a real database in a directory of its own, driven by the operations that watchers and runners
// call, with a clock that only the test moves.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { DEFAULT_RATE } from '../../../api/auth/rate-limit.ts';
import { Bell } from '../../../api/bell.ts';
import { equip } from '../../../api/http/equip.ts';
import { handleError } from '../../../api/http/handle-error.ts';
import { notFound } from '../../../api/http/not-found.ts';
import type { AppEnv, Caller, Parts } from '../../../api/parts.ts';
import { aboutRoutes } from '../../../api/routes/about.ts';
import { eventRoutes } from '../../../api/routes/events.ts';
import { pipelineRoutes } from '../../../api/routes/pipeline.ts';
import { stateRoutes } from '../../../api/routes/states.ts';
import { claimWork } from '../../../api/store/claim-work.ts';
import { completeWork } from '../../../api/store/complete-work.ts';
import type { Database } from '../../../api/store/database.ts';
import { openEmbedded } from '../../../api/store/embedded.ts';
import { failWork } from '../../../api/store/fail-work.ts';
import { migrate } from '../../../api/store/migrate.ts';
import { observe } from '../../../api/store/observe.ts';
import { registerWorkflow } from '../../../api/store/register-workflow.ts';
import { RegisteredCache } from '../../../api/store/registered.ts';
import { Sightings } from '../../../api/store/seen-machine.ts';
import type { Store } from '../../../api/store/store.ts';
import { loadBlake3 } from '../../../host/blake3.ts';
import { asBlake3 } from '../../../schema/blake3.ts';
import { loadWorkflow } from '../../../schema/load-workflow.ts';
import { MIGRATIONS } from '../../../schema/migrations.ts';
import { type Claimed, claimBody, completeItem, failItem } from '../../../schema/wire.ts';

export const ROOT: Caller = {
  kind: 'process',
  name: 'root',
  scopes: ['admin'],
  workflow: null,
  target: null,
};
const { hash } = loadBlake3();

/** The hash of a text, as if it were a file's content. */
export function h(text: string): string {
  return asBlake3(hash(new TextEncoder().encode(text)));
}

export interface ReadRig {
  readonly db: Database;
  readonly store: Store;
  readonly bell: Bell;
  readonly app: Hono<AppEnv>;
  readonly clock: { ms: number };
  readonly reported: unknown[];
  register(name: string, source: string, root?: string): Promise<void>;
  /** Paths below /p unless absolute; null is gone. */
  see(files: Readonly<Record<string, string | null>>): Promise<void>;
  claim(limit?: number): Promise<readonly Claimed[]>;
  /** Finishes a claim: paths it read, and contents it made. */
  make(
    item: Claimed,
    reads: Readonly<Record<string, string>>,
    makes: Readonly<Record<string, string>>,
  ): Promise<void>;
  fail(item: Claimed, error?: string): Promise<void>;
  request(path: string, init?: RequestInit, caller?: Caller): Promise<Response>;
  get<Answer>(path: string): Promise<Answer>;
  stop(): Promise<void>;
}

const embedded = (directory: string) => openEmbedded({ file: join(directory, 'state.db') });

export async function startReadRig(open: (directory: string) => Database = embedded): Promise<ReadRig> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-read-'));
  const db = open(directory);
  const clock = { ms: Date.UTC(2026, 0, 15, 10) };
  await migrate(db, MIGRATIONS, clock.ms);
  let nonce = 0;
  const store: Store = {
    db,
    registered: new RegisteredCache(db),
    sightings: new Sightings(),
    hash,
    nowMs: () => clock.ms,
    nonce: () => ++nonce,
  };
  const bell = new Bell();
  const reported: unknown[] = [];
  const app = appOn(store, bell, reported);
  const request: ReadRig['request'] = async (path, init = {}, caller = ROOT) =>
    app.fetch(new Request(`http://sluice${path}`, init), { trusted: caller });
  return {
    db,
    store,
    bell,
    app,
    clock,
    reported,
    register: (name, source, root = '/p') => register(store, name, source, root),
    see: async (files) => {
      const observations = Object.entries(files).map(([path, text]) =>
        text === null
          ? { path: at(path), gone: true as const }
          : { path: at(path), hash: h(text), size: text.length },
      );
      await observe(store, { target: 'local', watcher: 'eye', observations });
    },
    claim: async (limit = 100) => {
      const body = claimBody.parse({ runner: 'hand', targets: ['local'], limit });
      return (await claimWork(store, body)).items;
    },
    make: async ({ token }, reads, makes) => {
      const deps = Object.entries(reads).map(([path, text]) => ({ path, hash: h(text) }));
      const outs = Object.entries(makes).map(([path, text]) => ({
        path: at(path),
        hash: h(text),
        size: text.length,
      }));
      const item = completeItem.parse({
        token,
        cache_key: h(JSON.stringify(deps)),
        recipe: h('recipe'),
        recipe_body: { cmd: 'x' },
        deps,
        consumed: deps.map(({ path, hash: of }) => ({ path: at(path).replace(/\/$/, ''), hash: of })),
        outs,
        content_hash: outs[0]?.hash,
        seconds: 1,
      });
      const [answer] = await completeWork(store, 'hand', [item]);
      if (answer?.result === 'lost') throw new Error('the lease was lost');
    },
    fail: async ({ token }, error = 'boom') => {
      const item = failItem.parse({
        ...{ token, outcome: { kind: 'exit', code: 3 }, error, log_tail: `… ${error}`, cache_key: h('key') },
      });
      await failWork(store, 'hand', [item]);
    },
    request,
    get: async (path) => {
      const response = await request(path);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as never;
    },
    stop: async () => {
      await db.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function appOn(store: Store, bell: Bell, reported: unknown[]): Hono<AppEnv> {
  const parts: Parts = {
    db: store.db,
    hash,
    nowMs: store.nowMs,
    randomBytes: (count) => randomBytes(count),
    version: '0.0.0-test',
    access: null,
    rate: DEFAULT_RATE,
    report: (error) => reported.push(error),
  };
  const app = new Hono<AppEnv>();
  app.use(equip(parts));
  app.use(async (c, next) => {
    c.set('store', store);
    c.set('bell', bell);
    c.set('routes', () => app.routes);
    await next();
  });
  for (const routes of [aboutRoutes, pipelineRoutes, stateRoutes, eventRoutes]) app.route('/', routes);
  app.onError(handleError(parts));
  app.notFound(notFound(app));
  return app;
}

async function register(store: Store, name: string, source: string, root: string): Promise<void> {
  const loaded = loadWorkflow(source, { name, root });
  if (loaded.kind !== 'workflow') throw new Error(JSON.stringify(loaded.diagnostics));
  const { workflow } = loaded;
  const result = await registerWorkflow(store, { name, workflow, source, root, target: 'local', by: 'test' });
  if (!result.ok) throw new Error(result.problems.join());
}

function at(path: string): string {
  return path.startsWith('/') ? path : `/p/${path}`;
}

/** Two stages behind a source: `logs/{date}.txt → summaries/{date}.txt → blogs/{date}.md`. */
export const BLOG = JSON.stringify({
  mode: 'pipeline',
  stateRoot: '.',
  retryPolicy: { maxAttempts: 2, backoffSeconds: [60, 300] },
  stages: [
    { id: 'logs', type: 'source', pattern: 'logs/{date}.txt' },
    stage('summary', 'logs', 'summaries/{date}.txt'),
    stage('blog', 'summary', 'blogs/{date}.md'),
  ],
});

export function stage(id: string, input: string, pattern: string) {
  return { id, type: 'transform', input, pattern, node: { typeId: 'command', data: { cmd: `make ${id}` } } };
}
