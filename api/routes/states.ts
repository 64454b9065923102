// States one by one: how each stands, why, and what was tried.

import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { attemptAnswer, stateAnswer, whyAnswer } from '../../schema/read-answers.ts';
import { COUNTED_WORDS } from '../../schema/status-words.ts';
import { allow, mayTouch } from '../http/route.ts';
import { query } from '../http/validate.ts';
import type { AppEnv } from '../parts.ts';
import { explainState } from '../store/explain-state.ts';
import { listAttempts } from '../store/list-attempts.ts';
import { FIRST_STATES, listStates } from '../store/list-states.ts';
import { withAnyNames } from './any-name.ts';
import { missing } from './missing.ts';
import { linkToNext } from './next-page.ts';

const limit = z.coerce.number().int().min(1).max(1_000).default(100);

/** Opaque to askers: they take it from the Link header. */
const cursor = z
  .string()
  .regex(/^\d{1,15}\.\d{1,15}$/, 'expected the after of a Link header')
  .transform((text) => {
    const [entity, state] = text.split('.').map(Number);
    return { entity: entity!, state: state! };
  });

const StatePage = z.object({
  stage: z.string().optional(),
  entity: z.string().optional(),
  status: z.enum(COUNTED_WORDS).optional(),
  /** With `stage` and `entity`: all that a run of that state is about. */
  scope: z.enum(['run', 'forced']).optional(),
  after: cursor.optional(),
  limit,
});

const OneState = z.object({ stage: z.string(), entity: z.string().default('') });
const AttemptPage = OneState.extend({
  /** Only attempts with smaller tokens: they are listed newest first. */
  after: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).default(Number.MAX_SAFE_INTEGER),
  limit,
});

export const stateRoutes = withAnyNames(
  new Hono<AppEnv>()
    .get(
      '/api/workflows/:name/states',
      allow('read', {
        summary: 'List states with their reasons; the next page is in the Link header',
        responses: { 200: z.array(stateAnswer) },
        limits: 'checked',
      }),
      query(StatePage),
      async (c) => {
        const { after = FIRST_STATES, ...asked } = { workflow: workflowOf(c), ...c.req.valid('query') };
        const page = await listStates(c.var.store, { ...asked, after });
        if (page === null) throw await missing(c.var.store, asked);
        linkToNext(c, page.next === null ? null : `${page.next.entity}.${page.next.state}`);
        return c.json([...page.states]);
      },
    )
    .get(
      '/api/workflows/:name/why',
      allow('read', {
        summary: 'Why a state is as it is, down to the file or param that changed',
        responses: { 200: whyAnswer },
        limits: 'checked',
      }),
      query(OneState),
      async (c) => {
        const asked = { workflow: workflowOf(c), ...c.req.valid('query') };
        const why = await explainState(c.var.store, asked);
        if (why === null) throw await missing(c.var.store, asked);
        return c.json(why);
      },
    )
    .get(
      '/api/workflows/:name/attempts',
      allow('read', {
        summary: 'What was tried for a state, newest first, with the end of each log',
        responses: { 200: z.array(attemptAnswer) },
        limits: 'checked',
      }),
      query(AttemptPage),
      async (c) => {
        const { after: before, ...asked } = { workflow: workflowOf(c), ...c.req.valid('query') };
        const attempts = await listAttempts(c.var.store, { ...asked, before });
        if (attempts === null) throw await missing(c.var.store, asked);
        linkToNext(c, attempts.length === asked.limit ? attempts.at(-1)!.token : null);
        return c.json(attempts);
      },
    ),
  ['name'],
);

/** The workflow in the URL, if the caller may touch it. */
function workflowOf(c: Context<AppEnv>): string {
  const workflow = c.req.param('name')!;
  mayTouch(c, { workflow });
  return workflow;
}
