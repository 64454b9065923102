// The control plane as a Cloudflare Worker: the same app on sqld or Turso by URL, swept by a Cron Trigger.

import { MIGRATIONS } from '../schema/migrations.ts';
import { createApp, createStore } from './app.ts';
import { type AccessEnv, accessSettings } from './auth/access-settings.ts';
import { DEFAULT_RATE } from './auth/rate-limit.ts';
import { hashBytes } from './blake3-workerd.ts';
import type { Parts } from './parts.ts';
import { checkVersion } from './store/migrate.ts';
import { openRemote } from './store/remote.ts';
import { sweep } from './store/sweep.ts';

declare const SLUICE_VERSION: string;

/** What `wrangler.toml` and `wrangler secret put` give. */
export interface WorkerEnv extends AccessEnv {
  readonly LIBSQL_URL: string;
  readonly LIBSQL_TOKEN?: string;
}

export default {
  async fetch(request: Request, env: WorkerEnv): Promise<Response> {
    // Never the Worker's own env: nothing that comes over the network is trusted.
    return control(env).app.fetch(request, {});
  },

  async scheduled(_event: unknown, env: WorkerEnv): Promise<void> {
    const { parts } = control(env);
    await parts.ready?.();
    await sweep(createStore(parts));
  },
};

interface Running {
  readonly parts: Parts;
  readonly app: ReturnType<typeof createApp>;
}

/** One app for as long as the isolate lives, and a new one if its settings change under it. */
let current: { readonly settings: string; readonly running: Running } | null = null;

function control(env: WorkerEnv): Running {
  const settings = JSON.stringify(env);
  if (current?.settings !== settings) current = { settings, running: start(env) };
  return current.running;
}

function start(env: WorkerEnv): Running {
  const db = openRemote({ url: env.LIBSQL_URL, token: env.LIBSQL_TOKEN });
  const parts: Parts = {
    db,
    hash: hashBytes,
    nowMs: Date.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    version: SLUICE_VERSION,
    access: accessSettings(env),
    rate: DEFAULT_RATE,
    report: (error, incident) => console.error(incident, error),
    ready: once(() => checkVersion(db, MIGRATIONS)),
  };
  return { parts, app: createApp(parts) };
}

/**
 * A failure is not remembered: the database may be migrated, or back, by the next request. Nor is a check shared that is
 * under way: if the request that began it is cancelled, it never ends.
 */
function once(check: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    await check();
    isDone = true;
  };
}
