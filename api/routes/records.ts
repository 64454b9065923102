// Records of what was made under which key: taken from lock files, and given for them.

import { Hono } from 'hono';
import * as z from 'zod';
import { blake3 } from '../../schema/wire.ts';
import { allow, limitsOf, mayTouch } from '../http/route.ts';
import { jsonBody, query } from '../http/validate.ts';
import { findWorkflow, unknown } from '../known-workflow.ts';
import type { AppEnv } from '../parts.ts';
import { hashBlob } from '../store/hashes.ts';
import { importRecords } from '../store/import-records.ts';
import { listRecords, readRecipe } from '../store/list-records.ts';

const RECORDS = '/api/workflows/:name{[^]+}/records';

const imported = z.strictObject({
  recipes: z.record(blake3, z.unknown()),
  records: z
    .array(
      z.strictObject({
        stage: z.string(),
        entity: z.string(),
        cache_key: blake3,
        recipe: blake3,
        deps: z.array(z.unknown()),
        outs: z.array(z.unknown()),
        skipped: z.boolean(),
      }),
    )
    .max(5_000),
});

export const recordRoutes = new Hono<AppEnv>()
  .post(
    RECORDS,
    allow('work', {
      summary: 'Take records from a lock file; what they vouch for need not be made again',
      responses: { 200: z.object({ imported: z.int() }) },
      limits: 'checked',
    }),
    jsonBody(imported),
    async (c) => {
      const workflow = c.req.param('name')!;
      mayTouch(c, { workflow });
      findWorkflow(await c.var.store.registered.checked(), workflow);
      return c.json({ imported: await importRecords(c.var.store, { workflow, ...c.req.valid('json') }) });
    },
  )
  .get(
    RECORDS,
    allow('read', { summary: 'The newest record of every settled state', limits: 'checked' }),
    query(
      z.object({
        after: z.coerce.number().int().min(0).default(0),
        limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
      }),
    ),
    async (c) => {
      const workflow = c.req.param('name')!;
      mayTouch(c, { workflow });
      findWorkflow(await c.var.store.registered.checked(), workflow);
      return c.json(await listRecords(c.var.store, { workflow, ...c.req.valid('query') }));
    },
  )
  .get(
    '/api/recipes/:hash',
    allow('read', {
      summary: 'What a record was made with: command hash, code files, params',
      limits: 'checked',
    }),
    async (c) => {
      // Workflows may share one; who can name its hash was told it with a claim, or made it.
      limitsOf(c);
      const hash = blake3.safeParse(c.req.param('hash'));
      const body = hash.success ? await readRecipe(c.var.store, hashBlob(hash.data)) : null;
      if (body === null) throw unknown('definition', c.req.param('hash'), []);
      return c.json({ body });
    },
  );
