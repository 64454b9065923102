// The control plane about itself: is it alive, how much is there, what can be asked, who is around.

import { Hono } from 'hono';
import * as z from 'zod';
import { machineAnswer } from '../../schema/read-answers.ts';
import { openApiDocument } from '../http/openapi.ts';
import { allow, limitsOf } from '../http/route.ts';
import { type AppEnv, SCOPES } from '../parts.ts';
import { sql } from '../store/database.ts';
import { listMachines } from '../store/list-machines.ts';
import { readMetrics } from '../store/read-metrics.ts';
import { metricsText } from './metrics-text.ts';

const meAnswer = z.object({
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  /** What the caller is limited to, if anything. */
  workflow: z.string().nullable(),
  target: z.string().nullable(),
});

export const aboutRoutes = new Hono<AppEnv>()
  .get(
    '/healthz',
    allow('public', {
      summary: 'Whether the server and its database answer',
      responses: { 200: z.object({ status: z.literal('ok'), version: z.string() }) },
    }),
    async (c) => {
      const { db, version } = c.var.parts;
      await db.batch([sql('SELECT 1 AS alive')], 'read');
      return c.json({ status: 'ok' as const, version }, 200, { 'Cache-Control': 'no-store' });
    },
  )
  .get(
    '/metrics',
    allow('read', { summary: 'Numbers for Prometheus', responses: { 200: 'text/plain' } }),
    async (c) => {
      const { version, nowMs } = c.var.parts;
      const text = metricsText(await readMetrics(c.var.store), { version, nowMs: nowMs() });
      return c.text(text, 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
    },
  )
  .get(
    '/api/openapi.json',
    allow('public', { summary: 'This description', responses: { 200: z.json() } }),
    (c) =>
      c.json(openApiDocument(c.var.routes(), { version: c.var.parts.version }) as Record<string, unknown>),
  )
  .get(
    '/api/me',
    allow('read', {
      summary: 'Who is asking, and what they may do',
      responses: { 200: meAnswer },
      limits: 'checked',
    }),
    (c) => {
      const { name, scopes } = c.var.caller;
      const { workflow, target } = limitsOf(c);
      return c.json({ name, scopes: [...scopes], workflow, target });
    },
  )
  .get(
    '/api/machines',
    allow('read', { summary: 'Runners and watchers', responses: { 200: z.array(machineAnswer) } }),
    async (c) => c.json(await listMachines(c.var.store)),
  );
