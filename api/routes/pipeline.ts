// The endpoints of pipelines: how a workflow stands, entity by entity, and asking for work to be done again.

import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { entityAnswer, entitySummary, statusAnswer } from '../../schema/read-answers.ts';
import { PIPELINE_WORDS } from '../../schema/status-words.ts';
import { allow, mayTouch } from '../http/route.ts';
import { jsonBody, query } from '../http/validate.ts';
import { findStage, findWorkflow } from '../known-workflow.ts';
import type { AppEnv } from '../parts.ts';
import { invalidateStates } from '../store/invalidate-states.ts';
import { listEntities } from '../store/list-entities.ts';
import { listManifests } from '../store/list-manifests.ts';
import { readEntity } from '../store/read-entity.ts';
import { retryStates } from '../store/retry-states.ts';
import { workflowStatus } from '../store/workflow-status.ts';
import { withAnyNames } from './any-name.ts';
import { matches, tagOf } from './etag.ts';
import { missing } from './missing.ts';
import { linkToNext } from './next-page.ts';

const count = z.int().nonnegative();
const EntityPage = z.object({
  status: z.enum(PIPELINE_WORDS).optional(),
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

const ManifestPage = EntityPage.omit({ status: true });

const chosen = z.strictObject({ stage_id: z.string().optional(), entity_id: z.string().optional() });

// The entity's routes come first: an entity may well be called status, a workflow hardly ends in /entity/x.
export const pipelineRoutes = withAnyNames(
  new Hono<AppEnv>()
    .get(
      '/api/pipeline/:workflow/entity/:entity',
      allow('read', {
        summary: 'What is known of one entity: its manifest and its failures',
        responses: { 200: entityAnswer },
        limits: 'checked',
      }),
      async (c) => {
        const asked = { workflow: workflowOf(c), entity: c.req.param('entity') ?? '' };
        const found = await readEntity(c.var.store, asked);
        if (found === null) throw await missing(c.var.store, asked);
        return c.json(found);
      },
    )
    .post(
      '/api/pipeline/:workflow/entity/:entity/retry',
      allow('admin', {
        summary: 'Try again what failed or gave up of one entity',
        responses: { 200: z.object({ status: z.literal('queued'), retried: count }) },
        limits: 'checked',
      }),
      async (c) => {
        const asked = { workflow: workflowOf(c), entity: c.req.param('entity') ?? '' };
        if ((await readEntity(c.var.store, asked)) === null) throw await missing(c.var.store, asked);
        const retried = await retryStates(c.var.store, asked);
        c.var.bell.ring();
        return c.json({ status: 'queued' as const, retried });
      },
    )
    .post(
      '/api/pipeline/:workflow/retry',
      allow('admin', {
        summary: 'Try again what failed or gave up: all, of a stage, of an entity, or of both',
        responses: { 200: z.object({ status: z.literal('queued'), retried: count }) },
        limits: 'checked',
      }),
      jsonBody(chosen),
      async (c) => {
        const asked = await chosenBy(c, c.req.valid('json'));
        const retried = await retryStates(c.var.store, asked);
        c.var.bell.ring();
        return c.json({ status: 'queued' as const, retried });
      },
    )
    .get(
      '/api/pipeline/:workflow/status',
      allow('read', {
        summary: 'How many entities a workflow has, and how its states stand',
        responses: { 200: statusAnswer },
        limits: 'checked',
      }),
      async (c) => {
        const workflow = workflowOf(c);
        const found = await workflowStatus(c.var.store, workflow);
        if (found === null) throw await missing(c.var.store, { workflow });
        const tag = tagOf(c.var.parts.hash, JSON.stringify(found));
        c.header('ETag', tag);
        c.header('Cache-Control', 'no-cache');
        if (matches(c.req.header('If-None-Match'), tag)) return c.body(null, 304);
        return c.json(found);
      },
    )
    .get(
      '/api/pipeline/:workflow/entities',
      allow('read', {
        summary: 'List entities with the word of each stage; the next page is in the Link header',
        responses: { 200: z.array(entitySummary) },
        limits: 'checked',
      }),
      query(EntityPage),
      async (c) => {
        const workflow = workflowOf(c);
        const page = await listEntities(c.var.store, { workflow, ...c.req.valid('query') });
        if (page === null) throw await missing(c.var.store, { workflow });
        linkToNext(c, page.next);
        return c.json([...page.entities]);
      },
    )
    .get(
      '/api/pipeline/:workflow/manifests',
      allow('read', {
        summary: 'List entities with their manifests and failures; the next page is in the Link header',
        responses: { 200: z.array(entityAnswer) },
        limits: 'checked',
      }),
      query(ManifestPage),
      async (c) => {
        const workflow = workflowOf(c);
        const page = await listManifests(c.var.store, { workflow, ...c.req.valid('query') });
        if (page === null) throw await missing(c.var.store, { workflow });
        linkToNext(c, page.next);
        return c.json([...page.entities]);
      },
    )
    .post(
      '/api/pipeline/:workflow/invalidate',
      allow('admin', {
        summary: 'Make states stale although nothing changed: all, of a stage, of an entity, or of both',
        responses: { 200: z.object({ invalidated: count }) },
        limits: 'checked',
      }),
      jsonBody(chosen),
      async (c) => {
        const asked = await chosenBy(c, c.req.valid('json'));
        const invalidated = await invalidateStates(c.var.store, { ...asked, by: c.var.caller.name });
        c.var.bell.ring();
        return c.json({ invalidated });
      },
    ),
  ['workflow', 'entity'],
);

/** Which states a body speaks of, if there are a stage and an entity of these names. */
async function chosenBy(c: Context<AppEnv>, body: z.output<typeof chosen>) {
  const workflow = workflowOf(c);
  const { stage_id: stage, entity_id: entity } = body;
  const known = findWorkflow(await c.var.store.registered.checked(), workflow);
  if (stage !== undefined) findStage(known, stage);
  if (entity !== undefined && (await readEntity(c.var.store, { workflow, entity })) === null)
    throw await missing(c.var.store, { workflow, stage, entity });
  return { workflow, stage, entity };
}

/** The workflow in the URL, if the caller may touch it. */
function workflowOf(c: Context<AppEnv>): string {
  const workflow = c.req.param('workflow')!;
  mayTouch(c, { workflow });
  return workflow;
}
