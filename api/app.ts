// The control plane as one app: the same in a process of its own, embedded in another, and in workerd.

import { Hono } from 'hono';
import { Bell } from './bell.ts';
import { equip } from './http/equip.ts';
import { handleError } from './http/handle-error.ts';
import { notFound } from './http/not-found.ts';
import type { AppEnv, Parts } from './parts.ts';
import { aboutRoutes } from './routes/about.ts';
import { eventRoutes } from './routes/events.ts';
import { pipelineRoutes } from './routes/pipeline.ts';
import { recordRoutes } from './routes/records.ts';
import { runRoutes } from './routes/runs.ts';
import { stateRoutes } from './routes/states.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { watchRoutes } from './routes/watch.ts';
import { workRoutes } from './routes/work.ts';
import { workflowRoutes } from './routes/workflows.ts';
import { RegisteredCache } from './store/registered.ts';
import { Sightings } from './store/seen-machine.ts';
import type { Store } from './store/store.ts';

export function createApp(parts: Parts) {
  const store = createStore(parts);
  const bell = new Bell();
  const app: Hono<AppEnv> = new Hono<AppEnv>();
  const routed = app
    .use(equip(parts))
    .use(async (c, next) => {
      await parts.ready?.();
      c.set('store', store);
      c.set('bell', bell);
      c.set('routes', () => app.routes);
      await next();
    })
    .route('/', aboutRoutes)
    .route('/', workRoutes)
    .route('/', watchRoutes)
    .route('/', pipelineRoutes)
    .route('/', stateRoutes)
    .route('/', runRoutes)
    .route('/', recordRoutes)
    .route('/', eventRoutes)
    .route('/', tokenRoutes)
    // Last: a workflow's name may hold slashes, so what stands here takes whatever the others left.
    .route('/', workflowRoutes);
  app.onError(handleError(parts));
  app.notFound(notFound(app));
  return routed;
}

export type AppType = ReturnType<typeof createApp>;

export function createStore({ db, hash, nowMs, randomBytes }: Parts): Store {
  const nonce = () => randomNumber(randomBytes);
  return { db, registered: new RegisteredCache(db), sightings: new Sightings(), hash, nowMs, nonce };
}

/** 52 bits: more than SQLite's and JavaScript's integers both hold without loss is not needed to be alone. */
function randomNumber(randomBytes: Parts['randomBytes']): number {
  return randomBytes(7).reduce((number, byte, i) => number * 256 + (i === 0 ? byte & 15 : byte), 0);
}
