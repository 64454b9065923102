// What runners say: give me work, I am still at it, it is done, it failed, take it back.

import { type Context, Hono } from 'hono';
import * as z from 'zod';
import {
  claimAnswer,
  claimBody,
  completeBody,
  failBody,
  itemsAnswer,
  restartBody,
  tokensBody,
} from '../../schema/wire.ts';
import { MOST_LOOKS } from '../bell.ts';
import { Problem } from '../http/problem.ts';
import { allow, limitsOf, mayTouch } from '../http/route.ts';
import { jsonBody } from '../http/validate.ts';
import type { AppEnv } from '../parts.ts';
import { attemptedBy } from '../store/attempted-by.ts';
import { claimWork } from '../store/claim-work.ts';
import { type Answered, completeWork } from '../store/complete-work.ts';
import { failWork } from '../store/fail-work.ts';
import { releaseWork, renewLeases } from '../store/keep-leases.ts';
import { restartRunner } from '../store/restart-runner.ts';

const doc = (summary: string, answer: z.ZodType) => ({
  summary,
  responses: { 200: answer },
  limits: 'checked' as const,
});
const keptAnswer = z.object({ kept: z.array(z.int()), lost: z.array(z.int()) });

export const workRoutes = new Hono<AppEnv>()
  .post(
    '/api/work/claim',
    allow('work', doc('Claim up to N stale states whose inputs are settled', claimAnswer)),
    jsonBody(claimBody),
    async (c) => {
      const { store, bell } = c.var;
      const asked = within(c.req.valid('json'), limitsOf(c));
      const lookMs = Math.max(50, (asked.wait_seconds * 1_000) / MOST_LOOKS);
      const until = performance.now() + asked.wait_seconds * 1_000;
      for (;;) {
        const { items } = await claimWork(store, asked);
        const leftMs = until - performance.now();
        if (items.length > 0 || leftMs <= 0 || c.req.raw.signal.aborted)
          return c.json({ lease_seconds: asked.lease_seconds, items });
        await bell.wait(Math.min(lookMs, leftMs), c.req.raw.signal);
      }
    },
  )
  .post(
    '/api/work/restart',
    allow('work', {
      summary: 'Say that a runner starts anew: what it held, but for what it says it holds, is stale at once',
      responses: { 200: z.object({ freed: z.int() }) },
      limits: 'checked',
    }),
    jsonBody(restartBody),
    async (c) =>
      c.json({ freed: await restartRunner(c.var.store, { ...c.req.valid('json'), ...limitsOf(c) }) }),
  )
  .post(
    '/api/work/heartbeat',
    allow('work', doc('Keep leases; what is lost must be stopped', keptAnswer)),
    jsonBody(tokensBody),
    async (c) => {
      const { runner, tokens, lease_seconds } = c.req.valid('json');
      await refuseOthers(c, tokens);
      const leaseMs = Math.round(lease_seconds * 1_000);
      const kept = new Set(await renewLeases(c.var.store, { runner, tokens, leaseMs }));
      return c.json({ kept: [...kept], lost: tokens.filter((token) => !kept.has(token)) });
    },
  )
  .post(
    '/api/work/complete',
    allow('work', doc('Post results; each counts once and only with the current token', itemsAnswer)),
    jsonBody(completeBody),
    async (c) => {
      const { runner, items } = c.req.valid('json');
      await refuseOthers(
        c,
        items.map(({ token }) => token),
      );
      const results = await completeWork(c.var.store, runner, items);
      c.var.bell.ring();
      return c.json({ results: unlessAllLost(results) });
    },
  )
  .post(
    '/api/work/fail',
    allow('work', doc('Post failures; the answer says when to try again', itemsAnswer)),
    jsonBody(failBody),
    async (c) => {
      const { runner, items } = c.req.valid('json');
      await refuseOthers(
        c,
        items.map(({ token }) => token),
      );
      const results = await failWork(c.var.store, runner, items);
      c.var.bell.ring();
      return c.json({ results: unlessAllLost(results) });
    },
  )
  .post(
    '/api/work/release',
    allow('work', doc('Give claimed states back unmade', itemsAnswer)),
    jsonBody(tokensBody),
    async (c) => {
      const { runner, tokens } = c.req.valid('json');
      await refuseOthers(c, tokens);
      const results = await releaseWork(c.var.store, runner, tokens);
      c.var.bell.ring();
      return c.json({ results: unlessAllLost(results) });
    },
  );

/** A token that is limited to a workflow or target is never offered anything else. */
function within(asked: z.output<typeof claimBody>, limits: ReturnType<typeof limitsOf>) {
  const targets =
    limits.target === null ? asked.targets : asked.targets.filter((each) => each === limits.target);
  if (
    targets.length === 0 ||
    (limits.workflow !== null && (asked.workflow ?? limits.workflow) !== limits.workflow)
  ) {
    throw new Problem({
      status: 403,
      code: 'outside-limits',
      message: `this token is limited to ${limits.workflow === null ? `the target ${limits.target}` : `the workflow ${limits.workflow}`}`,
      hint: 'claim with a token for the workflow and target in question',
    });
  }
  return { ...asked, targets, ...(limits.workflow === null ? {} : { workflow: limits.workflow }) };
}

/** Tokens of leases are numbers and can be guessed; a limited caller may not speak of those outside its limits. */
async function refuseOthers(c: Context<AppEnv>, tokens: readonly number[]): Promise<void> {
  const { workflow, target } = limitsOf(c);
  if (workflow === null && target === null) return;
  for (const touched of await attemptedBy(c.var.store, tokens)) mayTouch(c, touched);
}

/** A runner that has lost everything it speaks of must hear it, even if it looks at nothing but the status. */
function unlessAllLost(results: readonly Answered[]): Answered[] {
  if (results.some(({ result }) => result !== 'lost')) return [...results];
  throw new Problem({
    status: 409,
    code: 'lease-lost',
    message: `the lease with token ${results[0]!.token} is not this runner's any more; nothing was changed`,
    hint: 'stop the command, discard its result and claim again',
    extra: { results },
  });
}
