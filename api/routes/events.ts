// What happened: page by page, or live.

import { Hono } from 'hono';
import * as z from 'zod';
import { eventAnswer } from '../../schema/read-answers.ts';
import { allow, limitsOf, mayTouch } from '../http/route.ts';
import { query } from '../http/validate.ts';
import type { AppEnv } from '../parts.ts';
import { listEvents } from '../store/list-events.ts';
import { eventStream } from './event-stream.ts';
import { linkToNext } from './next-page.ts';

const after = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const EventPage = z.object({
  after: after.default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  workflow: z.string().optional(),
  newest: z.coerce.number().int().min(1).max(1_000).optional(),
});

export const eventRoutes = new Hono<AppEnv>()
  .get(
    '/api/events',
    allow('read', {
      summary:
        'What happened, oldest first: after an event, with the next page in the Link header, or the newest',
      responses: { 200: z.array(eventAnswer) },
      limits: 'checked',
    }),
    query(EventPage),
    async (c) => {
      const asked = c.req.valid('query');
      mayTouch(c, { workflow: asked.workflow });
      const workflow = asked.workflow ?? limitsOf(c).workflow ?? undefined;
      const events = await listEvents(c.var.store, { ...asked, workflow });
      linkToNext(c, asked.newest === undefined && events.length === asked.limit ? events.at(-1)!.id : null);
      return c.json(events);
    },
  )
  .get(
    '/api/events/stream',
    allow('read', {
      summary: 'What happens from now on, or after an event, as server-sent events',
      responses: { 200: 'text/event-stream' },
      limits: 'checked',
    }),
    query(z.object({ after: after.optional(), workflow: z.string().optional() })),
    async (c) => {
      const asked = c.req.valid('query');
      mayTouch(c, { workflow: asked.workflow });
      const workflow = asked.workflow ?? limitsOf(c).workflow ?? undefined;
      const last = after.safeParse(c.req.header('Last-Event-ID') ?? asked.after);
      const { store, bell } = c.var;
      const signal = c.req.raw.signal;
      const stream = await eventStream({ store, bell, signal }, { workflow, after: last.data });
      return c.body(stream, 200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        // Asks proxies in front not to collect what should arrive at once.
        'X-Accel-Buffering': 'no',
      });
    },
  );
