// Makes, lists and revokes tokens; only for an admin whose own token is not limited.

import { Hono } from 'hono';
import * as z from 'zod';
import type { TokenRow } from '../../schema/tables/tokens.ts';
import { hashToken, makeToken } from '../auth/token.ts';
import { Problem } from '../http/problem.ts';
import { allow } from '../http/route.ts';
import { jsonBody, query } from '../http/validate.ts';
import { type AppEnv, SCOPES, type Scope } from '../parts.ts';
import { createToken } from '../store/create-token.ts';
import { listTokens } from '../store/list-tokens.ts';
import { revokeToken } from '../store/revoke-token.ts';

const TEN_YEARS_S = 10 * 365 * 86_400;

const NewToken = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/^\P{Cc}*$/u, 'has control characters'),
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length),
  workflow: z.string().min(1).max(1_000).optional(),
  target: z.string().min(1).max(1_000).optional(),
  expires_in_seconds: z.int().min(1).max(TEN_YEARS_S).optional(),
});

const Time = z.iso.datetime().nullable();

const Token = z.object({
  id: z.int(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  workflow: z.string().nullable(),
  target: z.string().nullable(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
  expires_at: Time,
  revoked_at: Time,
  last_used_at: Time,
});

const Page = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
});

export const tokenRoutes = new Hono<AppEnv>()
  .post(
    '/api/tokens',
    allow('admin', {
      summary: 'Make a token; the answer is the only place where it can be read',
      responses: { 201: Token.extend({ token: z.string() }) },
    }),
    jsonBody(NewToken),
    async (c) => {
      const { db, hash, nowMs, randomBytes } = c.var.parts;
      const asked = c.req.valid('json');
      const token = makeToken(randomBytes);
      const createdAt = nowMs();
      const row = await createToken(db, {
        name: asked.name,
        hash: hashToken(hash, token),
        scopes: SCOPES.filter((scope) => asked.scopes.includes(scope)).join(' '),
        workflow: asked.workflow ?? null,
        target: asked.target ?? null,
        created_at: createdAt,
        created_by: c.var.caller.name,
        expires_at:
          asked.expires_in_seconds === undefined ? null : createdAt + asked.expires_in_seconds * 1_000,
      });
      // Somebody may have tried this very token before it was made, and "unknown" is remembered too.
      c.var.guard.forget();
      return c.json({ ...shown(row), token }, 201, { 'Cache-Control': 'no-store' });
    },
  )
  .get(
    '/api/tokens',
    allow('admin', {
      summary: 'List tokens, oldest first, revoked ones too',
      responses: { 200: z.array(Token) },
    }),
    query(Page),
    async (c) => {
      const { after, limit } = c.req.valid('query');
      const rows = await listTokens(c.var.parts.db, { after, limit });
      const last = rows.at(-1);
      const hasMore = last !== undefined && rows.length === limit;
      if (hasMore) c.header('Link', `</api/tokens?after=${last.id}&limit=${limit}>; rel="next"`);
      return c.json(rows.map(shown));
    },
  )
  .delete(
    '/api/tokens/:id',
    allow('admin', {
      summary: 'Revoke a token: at once here, within 30 seconds in other processes',
      responses: { 200: Token },
    }),
    async (c) => {
      const { db, nowMs } = c.var.parts;
      const id = c.req.param('id');
      const row = /^\d{1,15}$/.test(id) ? await revokeToken(db, Number(id), nowMs()) : undefined;
      if (row === undefined) throw noSuchToken(id);
      c.var.guard.forget();
      return c.json(shown(row));
    },
  );

function shown(row: TokenRow): z.output<typeof Token> {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes.split(' ') as Scope[],
    workflow: row.workflow,
    target: row.target,
    created_at: new Date(row.created_at).toISOString(),
    created_by: row.created_by,
    expires_at: time(row.expires_at),
    revoked_at: time(row.revoked_at),
    last_used_at: time(row.last_used_at),
  };
}

function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function noSuchToken(id: string): Problem {
  return new Problem({
    status: 404,
    code: 'no-such-token',
    message: `there is no token ${id.slice(0, 40)}`,
    hint: 'list the tokens to see their ids',
  });
}
