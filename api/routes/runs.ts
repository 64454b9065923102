// Runs: what one trigger caused, begun with a scope and ended with counts.

import { Hono } from 'hono';
import * as z from 'zod';
import { allow, mayTouch } from '../http/route.ts';
import { jsonBody, query } from '../http/validate.ts';
import { findStage, findWorkflow, unknown } from '../known-workflow.ts';
import type { AppEnv } from '../parts.ts';
import { endRun, listRuns } from '../store/end-run.ts';
import { startRun } from '../store/start-run.ts';

const RUNS = '/api/workflows/:name{[^]+}/runs';
const count = z.int().nonnegative();

export const runRoutes = new Hono<AppEnv>()
  .post(
    RUNS,
    allow('work', {
      summary: 'Begin a run: a scope of stages, forced or not',
      responses: { 201: z.object({ id: z.string(), stages: z.array(z.string()) }) },
      limits: 'checked',
    }),
    jsonBody(
      z.strictObject({
        stage: z.string().optional(),
        /** Of that stage: only this state and the upstream that it needs. */
        entity: z.string().optional(),
        force: z.boolean().default(false),
        cause: z.string().min(1).max(200),
      }),
    ),
    async (c) => {
      const workflow = c.req.param('name')!;
      mayTouch(c, { workflow });
      const { stage, entity, force, cause } = c.req.valid('json');
      const known = findWorkflow(await c.var.store.registered.checked(), workflow);
      if (stage !== undefined) findStage(known, stage);
      const id = `r-${[...c.var.parts.randomBytes(6)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
      const run = await startRun(c.var.store, { id, workflow, stage, entity, force, cause });
      c.var.bell.ring();
      return c.json({ id: run.id, stages: [...run.stages] }, 201);
    },
  )
  .get(
    RUNS,
    allow('read', { summary: 'Runs of a workflow, newest first', limits: 'checked' }),
    query(z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(100) })),
    async (c) => {
      const workflow = c.req.param('name')!;
      mayTouch(c, { workflow });
      findWorkflow(await c.var.store.registered.checked(), workflow);
      return c.json(await listRuns(c.var.store, workflow, c.req.valid('query').limit));
    },
  )
  .post(
    '/api/runs/:id/end',
    allow('work', {
      summary: 'End a run with its counts',
      responses: { 200: z.object({ ended: z.string() }) },
    }),
    jsonBody(
      z.strictObject({
        status: z.enum(['completed', 'failed']),
        counts: z.strictObject({
          stages_run: count,
          stages_cached: count,
          stages_failed: count,
          total_seconds: z.number().nonnegative(),
        }),
      }),
    ),
    async (c) => {
      const id = c.req.param('id');
      if (!(await endRun(c.var.store, { id, ...c.req.valid('json') }))) throw unknown('run', id, []);
      c.var.bell.ring();
      return c.json({ ended: id });
    },
  );
