import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { hc } from 'hono/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashToken, isToken, makeToken } from '../../../api/auth/token.ts';
import type { tokenRoutes } from '../../../api/routes/tokens.ts';
import { sql } from '../../../api/store/database.ts';
import { loadBlake3 } from '../../../host/blake3.ts';
import { tokens } from '../../../schema/tables/tokens.ts';
import { problemOf } from '../http/small-app.ts';
import { ROOT, startTokenRig, type TokenRig } from './token-rig.ts';

let rig: TokenRig;
beforeEach(async () => {
  rig = await startTokenRig();
});
afterEach(() => rig.stop());

async function rows(text = 'SELECT * FROM tokens ORDER BY id') {
  return (await rig.db.batch([sql(text)], 'read'))[0]!.rows;
}

describe('a token', () => {
  it('is 256 random bits behind a prefix that tells what it is', () => {
    const zero = makeToken((count) => new Uint8Array(count));
    expect(zero).toBe(`sluice_${'A'.repeat(43)}`);
    const full = makeToken((count) => new Uint8Array(count).fill(0xff));
    expect(full).toBe(`sluice_${'_'.repeat(42)}8`);
    expect([zero, full].every(isToken)).toBe(true);
  });

  it.each([
    '',
    'sluice_',
    `sluice_${'A'.repeat(42)}`,
    `sluice_${'A'.repeat(44)}`,
    `Sluice_${'A'.repeat(43)}`,
    `sluice_${'A'.repeat(42)}+`,
  ])('is told from other text: %j', (text) => {
    expect(isToken(text)).toBe(false);
  });

  it('is shown once and stored only as its hash', async () => {
    const server = rig.start();
    const { token } = await server.make({ name: 'runner 1', scopes: ['work'] });
    const [row] = await rows();
    expect(row!.hash).toEqual(new Uint8Array(hashToken(loadBlake3().hash, token)));
    const secret = token.slice('sluice_'.length);
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(await (await server.asRoot('GET', '/api/tokens')).text()).not.toMatch(
      new RegExp(`${secret}|hash`),
    );
  });

  it('has the scopes, limits and expiry it was asked for, and the name of who asked', async () => {
    const response = await rig.start().asRoot('POST', '/api/tokens', {
      name: 'gpu watcher',
      scopes: ['work', 'watch', 'watch'],
      workflow: 'news/daily',
      target: 'gpu',
      expires_in_seconds: 60,
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(await response.json()).toEqual({
      id: 1,
      name: 'gpu watcher',
      token: expect.stringMatching(/^sluice_[\w-]{43}$/),
      scopes: ['watch', 'work'],
      workflow: 'news/daily',
      target: 'gpu',
      created_at: '2026-01-15T10:00:00.000Z',
      created_by: 'root',
      expires_at: '2026-01-15T10:01:00.000Z',
      revoked_at: null,
      last_used_at: null,
    });
  });

  it.each([
    ['no name', { scopes: ['read'] }],
    ['an empty name', { name: '', scopes: ['read'] }],
    ['a name that would move the cursor', { name: 'a\u001b[2J', scopes: ['read'] }],
    ['no scope', { name: 'x', scopes: [] }],
    ['an unknown scope', { name: 'x', scopes: ['root'] }],
    ['scopes as text', { name: 'x', scopes: 'read' }],
    ['an unknown field', { name: 'x', scopes: ['read'], admin: true }],
    ['an expiry in the past', { name: 'x', scopes: ['read'], expires_in_seconds: -1 }],
    ['an expiry that is no number', { name: 'x', scopes: ['read'], expires_in_seconds: '60' }],
    ['an expiry beyond reason', { name: 'x', scopes: ['read'], expires_in_seconds: 1e12 }],
    ['a hash of its own', { name: 'x', scopes: ['read'], hash: 'AAAA' }],
    ['NUL in its name', { name: 'x\0', scopes: ['read'] }],
  ])('is not made with %s, and nothing is stored', async (_what, body) => {
    const problem = await problemOf(rig.start().asRoot('POST', '/api/tokens', body));
    expect(problem.status).toBe(400);
    expect(await rows()).toEqual([]);
  });
});

describe('the list of tokens', () => {
  it('is a bare array, oldest first, in pages', async () => {
    const server = rig.start();
    for (const name of ['a', 'b', 'c']) await server.make({ name, scopes: ['read'] });
    const first = await server.asRoot('GET', '/api/tokens?limit=2');
    expect(((await first.json()) as { name: string }[]).map(({ name }) => name)).toEqual(['a', 'b']);
    const [, next] = /<(.+)>; rel="next"/.exec(first.headers.get('Link')!)!;
    const second = await server.asRoot('GET', next!);
    expect(((await second.json()) as { name: string }[]).map(({ name }) => name)).toEqual(['c']);
    expect(second.headers.get('Link')).toBeNull();
  });
});

describe('revoking', () => {
  it('is answered the same way twice', async () => {
    const server = rig.start();
    const { id } = await server.make({ name: 'a', scopes: ['read'] });
    const first = await (await server.asRoot('DELETE', `/api/tokens/${id}`)).json();
    expect(first).toMatchObject({ id, revoked_at: '2026-01-15T10:00:00.000Z' });
    rig.clock.ms += 5_000;
    expect(await (await server.asRoot('DELETE', `/api/tokens/${id}`)).json()).toEqual(first);
  });

  it.each(['7', '-1', '1.5', 'x', '99999999999999999999', '1%20OR%201=1'])(
    'what does not exist is 404: %s',
    async (id) => {
      const server = rig.start();
      await server.make({ name: 'a', scopes: ['read'] });
      expect((await server.asRoot('DELETE', `/api/tokens/${id}`)).status).toBe(404);
      expect((await rows())[0]!.revoked_at).toBeNull();
    },
  );
});

describe('only an admin without limits', () => {
  it.each([
    [{ scopes: ['read'] }],
    [{ scopes: ['watch', 'work'] }],
    [{ scopes: ['admin'], workflow: 'news' }],
    [{ scopes: ['admin'], target: 'gpu' }],
  ])('makes, lists and revokes tokens, not one with %j', async (over) => {
    const server = rig.start();
    const { token } = await server.make({ name: 'small', ...over });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ name: 'big', scopes: ['admin'] });
    expect((await server.app.request('/api/tokens', { method: 'POST', headers, body })).status).toBe(403);
    expect((await server.app.request('/api/tokens', { headers })).status).toBe(403);
    expect((await server.app.request('/api/tokens/1', { method: 'DELETE', headers })).status).toBe(403);
    expect(await rows('SELECT id FROM tokens WHERE revoked_at IS NULL')).toHaveLength(1);
  });
});

it('gives the typed client its routes', async () => {
  const { app } = rig.start();
  const client = hc<typeof tokenRoutes>('http://sluice', {
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      app.fetch(new Request(input, init), { trusted: ROOT }),
  });
  const made = await client.api.tokens.$post({ json: { name: 'typed', scopes: ['read'] } });
  const { id, token } = await made.json();
  expect(isToken(token)).toBe(true);
  const listed = await (await client.api.tokens.$get({ query: { limit: '5' } })).json();
  expect(listed.map(({ name }) => name)).toEqual(['typed']);
  expect((await client.api.tokens[':id'].$delete({ param: { id: String(id) } })).status).toBe(200);
});

it('has rows as the migration makes them', async () => {
  const columns = await rows(
    'SELECT name, type, "notnull" AS required, pk FROM pragma_table_info(\'tokens\')',
  );
  const declared = getTableConfig(tokens).columns.map((column) => ({
    name: column.name,
    type: column.getSQLType().toUpperCase(),
    required: column.notNull && !column.primary ? 1 : 0,
    pk: column.primary ? 1 : 0,
  }));
  expect(columns).toEqual(declared);
});
