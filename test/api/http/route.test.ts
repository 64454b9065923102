import { Hono } from 'hono';
import { hc } from 'hono/client';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { allow, limitsOf, mayTouch } from '../../../api/http/route.ts';
import { jsonBody, query } from '../../../api/http/validate.ts';
import { type AppEnv, type Caller, SCOPES, type Scope } from '../../../api/parts.ts';
import { caller, guardOf, problemOf, smallApp } from './small-app.ts';

const Thing = z.object({
  name: z.string().min(1),
  size: z.number().int(),
  tags: z.array(z.strictObject({ key: z.string() })).optional(),
});

function things(stored: unknown[]) {
  return new Hono<AppEnv>()
    .post('/things/:place', allow('work', { summary: 'Store a thing' }), jsonBody(Thing), (c) => {
      const thing = c.req.valid('json');
      stored.push(thing);
      return c.json({ place: c.req.param('place'), name: thing.name, by: c.var.caller.name }, 201);
    })
    .get(
      '/things',
      allow('read', { summary: 'List things' }),
      query(
        z.object({ limit: z.coerce.number().int().min(1).max(10).default(5), after: z.string().optional() }),
      ),
      (c) => c.json({ limit: c.req.valid('query').limit }),
    );
}

function setUp(over: Partial<Caller> = {}) {
  const stored: unknown[] = [];
  const small = smallApp((app) => app.route('/', things(stored)), guardOf({ me: caller(over) }));
  const client = hc<ReturnType<typeof things>>('http://sluice', {
    headers: { Authorization: 'Bearer me' },
    fetch: (input: string | URL | Request, init?: RequestInit) => small.app.fetch(new Request(input, init)),
  });
  const post = (body: unknown) =>
    small.app.request('/things/here', {
      method: 'POST',
      headers: { Authorization: 'Bearer me', 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { ...small, stored, client, post };
}

describe('a route', () => {
  it('gives the client the types of its parameters, body and answer', async () => {
    const { client, stored } = setUp();
    const response = await client.things[':place'].$post({
      param: { place: encodeURIComponent('a/b ü') },
      json: { name: 'x', size: 1 },
    });
    expectTypeOf(response.json).returns.resolves.toEqualTypeOf<{ place: string; name: string; by: string }>();
    expect(await response.json()).toEqual({ place: 'a/b ü', name: 'x', by: 'somebody' });
    expect(stored).toEqual([{ name: 'x', size: 1 }]);
  });

  it('takes its query from text', async () => {
    const { client } = setUp();
    expect(await (await client.things.$get({ query: {} })).json()).toEqual({ limit: 5 });
    expect(await (await client.things.$get({ query: { limit: '7' } })).json()).toEqual({ limit: 7 });
  });

  it.each(SCOPES.flatMap((held) => SCOPES.map((needed): [Scope, Scope] => [held, needed])))(
    'lets a caller with %s do what needs %s, or refuses it by name',
    async (held, needed) => {
      const includes: Record<Scope, string> = {
        read: 'read',
        watch: 'watch read',
        work: 'work watch read',
        admin: 'admin watch work read',
      };
      const { app } = smallApp(
        (routes) => routes.get('/x', allow(needed, { summary: 'x' }), (c) => c.text('in')),
        guardOf({ me: caller({ scopes: [held] }) }),
      );
      const response = await app.request('/x', { headers: { Authorization: 'Bearer me' } });
      if (includes[held].split(' ').includes(needed)) expect(response.status).toBe(200);
      else expect(await problemOf(response)).toMatchObject({ status: 403, needed, held: [held] });
    },
  );

  it('without a credential is refused, and nothing is changed', async () => {
    const { app, stored } = setUp();
    const response = await app.request('/things/here', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'x', size: 1 }),
    });
    expect(response.status).toBe(401);
    expect(stored).toEqual([]);
  });

  it('does not read the body of a caller it refuses', async () => {
    const { app } = setUp({ scopes: ['read'] });
    let isAsked = false;
    const ask = () => {
      isAsked = true;
    };
    const body = new ReadableStream({ pull: ask }, { highWaterMark: 0 });
    const init = { method: 'POST', body, duplex: 'half', headers: { Authorization: 'Bearer me' } };
    expect((await app.request('/things/here', init as RequestInit)).status).toBe(403);
    expect(isAsked).toBe(false);
  });

  it('trusts a caller that the process itself passes, and no header that claims the same', async () => {
    const { app } = setUp();
    const trusted = caller({ kind: 'process', name: 'run', scopes: ['read'] });
    expect((await app.fetch(new Request('http://sluice/things'), { trusted })).status).toBe(200);
    const claiming = { headers: { trusted: JSON.stringify(trusted) } };
    expect((await app.request('/things?trusted=1', claiming)).status).toBe(401);
  });

  it('fails closed where nobody was told to guard it', async () => {
    const bare = new Hono<AppEnv>().get('/x', allow('read', { summary: 'x' }), (c) => c.text('in'));
    bare.onError((_error, c) => c.text('failed', 500));
    expect((await bare.request('/x')).status).toBe(500);
  });

  it('refuses NUL in the URL', async () => {
    const { app } = setUp();
    for (const path of ['/things?after=%00', '/things/a%00b']) {
      const init = { headers: { Authorization: 'Bearer me' }, method: path.includes('?') ? 'GET' : 'POST' };
      expect(await problemOf(app.request(path, init))).toMatchObject({ status: 400, code: 'unusable-text' });
    }
  });
});

describe('a body or query that is not as declared', () => {
  it('is refused with every place at once, and nothing is changed', async () => {
    const { post, stored } = setUp();
    const response = await post({ name: '', size: 1.5, tags: [{ key: 1, x: 2 }], colour: 'red' });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 400, code: 'invalid-body', issue_count: 5 });
    expect((problem.issues as { path: string }[]).map(({ path }) => path).sort()).toEqual(
      ['colour', 'name', 'size', 'tags[0].key', 'tags[0].x'].sort(),
    );
    expect(stored).toEqual([]);
  });

  it.each([[null], [[]], ['text'], [3], [true]])('is refused if it is %j', async (body) => {
    const { post } = setUp();
    expect(await problemOf(post(body))).toMatchObject({ status: 400, code: 'invalid-body' });
  });

  it('is never quoted back', async () => {
    const { post } = setUp();
    const text = await (await post({ name: 7, size: 'hunter2', password: 'hunter3' })).text();
    expect(text).not.toMatch(/hunter/);
  });

  it('gets an answer of bounded size', async () => {
    const { post } = setUp();
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, 1]));
    const response = await post({ name: 'x', size: 1, ...many });
    const problem = await problemOf(response);
    expect(problem.issue_count).toBe(20_000);
    expect((problem.issues as unknown[]).length).toBe(100);
  });

  it.each(['limit=11', 'limit=x', 'limit=', 'limit=1&limit=2', 'unknown=1'])(
    'is refused as a query: %s',
    async (search) => {
      const { app } = setUp();
      const response = app.request(`/things?${search}`, { headers: { Authorization: 'Bearer me' } });
      expect(await problemOf(response)).toMatchObject({ status: 400, code: 'invalid-query' });
    },
  );
});

describe('a caller limited to a workflow or target', () => {
  function limited(over: Partial<Caller>) {
    const { app, reported } = smallApp(
      (routes) => {
        routes.get('/workflows/:name', allow('read', { summary: 'one', limits: 'checked' }), (c) => {
          mayTouch(c, { workflow: c.req.param('name'), target: c.req.query('target') });
          return c.text('in');
        });
        routes.get('/list', allow('read', { summary: 'list', limits: 'checked' }), (c) =>
          c.json(limitsOf(c)),
        );
        routes.get('/forgets', allow('read', { summary: 'forgets', limits: 'checked' }), (c) =>
          c.text('all'),
        );
        routes.get('/unaware', allow('read', { summary: 'unaware' }), (c) => c.text('all'));
      },
      guardOf({ me: caller(over) }),
    );
    const get = (path: string) => app.request(path, { headers: { Authorization: 'Bearer me' } });
    return { get, reported };
  }

  it('may touch that one and is refused elsewhere', async () => {
    const { get } = limited({ workflow: 'news' });
    expect((await get('/workflows/news?target=any')).status).toBe(200);
    expect(await problemOf(get('/workflows/other'))).toMatchObject({ status: 403, workflow: 'news' });
  });

  it('may be limited to a target', async () => {
    const { get } = limited({ target: 'gpu' });
    expect((await get('/workflows/any?target=gpu')).status).toBe(200);
    expect((await get('/workflows/any')).status).toBe(200);
    expect(await problemOf(get('/workflows/any?target=cpu'))).toMatchObject({ status: 403, target: 'gpu' });
  });

  it('is told to a route that lists', async () => {
    const { get } = limited({ workflow: 'news' });
    expect(await (await get('/list')).json()).toEqual({ workflow: 'news', target: null });
  });

  it('is refused by a route that knows nothing of limits', async () => {
    const { get } = limited({ workflow: 'news' });
    expect((await get('/unaware')).status).toBe(403);
    expect((await limited({}).get('/unaware')).status).toBe(200);
  });

  it('gets nothing from a route that forgot to check, which is reported', async () => {
    const { get, reported } = limited({ workflow: 'news' });
    const response = await get('/forgets');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('all');
    expect(reported).toHaveLength(1);
  });
});

describe('a person behind Cloudflare Access', () => {
  it('cannot be made to change anything by a page of another site', async () => {
    const { app } = smallApp(
      (routes) => routes.on(['GET', 'POST'], '/x', allow('admin', { summary: 'x' }), (c) => c.text('in')),
      guardOf({ person: caller({ kind: 'access' }), machine: caller() }),
    );
    const send = (method: string, who: string, origin: string) =>
      app.request('http://sluice.example/x', {
        method,
        headers: { Authorization: `Bearer ${who}`, Origin: origin },
      });
    expect((await send('POST', 'person', 'https://evil.example')).status).toBe(403);
    expect((await send('POST', 'person', 'null')).status).toBe(403);
    expect((await send('POST', 'person', 'http://sluice.example')).status).toBe(200);
    expect((await send('GET', 'person', 'https://evil.example')).status).toBe(200);
    expect((await send('POST', 'machine', 'https://other.example')).status).toBe(200);
  });
});
