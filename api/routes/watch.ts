// What watchers ask and say: which patterns matter on my target, and this is what I saw.

import { Hono } from 'hono';
import * as z from 'zod';
import { observeAnswer, observeBody } from '../../schema/wire.ts';
import { allow, limitsOf, mayTouch } from '../http/route.ts';
import { jsonBody, query } from '../http/validate.ts';
import type { AppEnv } from '../parts.ts';
import { observe } from '../store/observe.ts';
import { watchList } from '../store/watch-list.ts';

const watched = z.object({
  workflow: z.string(),
  definition: z.string(),
  root: z.string(),
  settle_ms: z.number(),
  scan_interval_ms: z.number(),
  poll: z.union([z.literal('auto'), z.boolean()]),
  ignore: z.array(z.string()),
  sentinel: z.string().nullable(),
  patterns: z.array(
    z.object({
      pattern: z.string(),
      stage: z.string(),
      role: z.enum(['dep', 'code', 'out', 'source']),
      glob: z.string().nullable(),
    }),
  ),
});

export const watchRoutes = new Hono<AppEnv>()
  .get(
    '/api/watch',
    allow('watch', {
      summary: 'The patterns that matter on a target, per workflow',
      responses: { 200: z.object({ database: z.int(), workflows: z.array(watched) }) },
      limits: 'checked',
    }),
    query(z.object({ target: z.string().min(1) })),
    async (c) => {
      const { target } = c.req.valid('query');
      mayTouch(c, { target });
      const { workflow } = limitsOf(c);
      const { database, workflows } = await watchList(c.var.store, target);
      const allowed = workflows.filter((each) => workflow === null || each.workflow === workflow);
      return c.json({ database, workflows: allowed });
    },
  )
  .post(
    '/api/observations',
    allow('watch', {
      summary: 'Report what is at paths of a target: content hash and size, or gone',
      responses: { 200: observeAnswer },
      limits: 'checked',
    }),
    jsonBody(observeBody),
    async (c) => {
      const report = c.req.valid('json');
      mayTouch(c, { target: report.target });
      const seen = await observe(c.var.store, report);
      if (seen.changed > 0) c.var.bell.ring();
      return c.json(seen);
    },
  );
