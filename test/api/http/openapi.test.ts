import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../../api/http/openapi.ts';
import { openApiPath } from '../../../api/http/openapi-path.ts';
import { allow } from '../../../api/http/route.ts';
import { jsonBody, query } from '../../../api/http/validate.ts';
import type { AppEnv } from '../../../api/parts.ts';
import { tokenRoutes } from '../../../api/routes/tokens.ts';
import { routesThatIgnoreFields, routesWithoutPolicy } from './route-checks.ts';

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
const Tree: z.ZodType<Tree> = z.strictObject({ name: z.string(), children: z.array(z.lazy(() => Tree)) });

function sample() {
  return new Hono<AppEnv>()
    .use(async (_c, next) => next())
    .get('/healthz', allow('public', { summary: 'Alive', responses: { 200: 'text/plain' } }), (c) =>
      c.text('ok'),
    )
    .put(
      '/api/w/:name{[^]+}/e/:id{[0-9]{1,3}}',
      allow('work', { summary: 'Put', responses: { 200: z.object({ tree: Tree }), 201: Tree } }),
      query(
        z.object({
          limit: z.coerce.number().int().max(9).default(5),
          after: z.string().optional(),
          q: z.string(),
        }),
      ),
      jsonBody(Tree),
      (c) => c.json({}),
    )
    .post('/api/w', allow('admin', { summary: 'Register', rawBody: 'application/yaml' }), (c) => c.json({}));
}

describe('the OpenAPI document', () => {
  const document = openApiDocument(new Hono<AppEnv>().route('/', sample()).routes, { version: '1.2.3' });

  it('has every route once, and no middleware', () => {
    expect(
      Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((m) => [m, path])),
    ).toEqual([
      ['get', '/healthz'],
      ['put', '/api/w/{name}/e/{id}'],
      ['post', '/api/w'],
    ]);
  });

  it('says what a route needs', () => {
    expect(document.paths['/healthz']!.get).toMatchObject({ security: [], summary: 'Alive' });
    expect(document.paths['/api/w']!.post).toMatchObject({
      security: [{ token: [] }],
      description: 'Needs the scope admin.',
      requestBody: { content: { 'application/yaml': { schema: { type: 'string' } } } },
    });
  });

  it('has the parameters as they are checked', () => {
    expect(document.paths['/api/w/{name}/e/{id}']!.put!.parameters).toEqual([
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: expect.objectContaining({ maximum: 9, default: 5 }),
      },
      { name: 'after', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'q', in: 'query', required: true, schema: { type: 'string' } },
    ]);
  });

  it('has no reference that leads nowhere, also where a schema contains itself', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to!);
    expect(references.length).toBeGreaterThan(4);
    for (const reference of references) {
      const steps = reference.replace('#/', '').split('/');
      const found = steps.reduce((at: unknown, step) => (at as Record<string, unknown>)?.[step], document);
      expect(found, reference).toBeDefined();
    }
  });

  it('gives every operation a name of its own', () => {
    const names = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((one) => one.operationId),
    );
    expect(new Set(names).size).toBe(3);
    expect(names).toContain('putApiWNameEId');
  });

  it('promises a problem wherever something can go wrong', () => {
    expect(document.paths['/api/w']!.post!.responses).toMatchObject({
      default: { $ref: '#/components/responses/Problem' },
    });
  });
});

it.each([
  ['/a/:b', '/a/{b}', ['b']],
  ['/a/:b?', '/a/{b}', ['b']],
  ['/:a{[^]+}/:b{x{2}y{3,4}}/c', '/{a}/{b}/c', ['a', 'b']],
  ['/:a{[^]+}', '/{a}', ['a']],
  ['/a:b/c', '/a:b/c', []],
])('writes %s as %s', (route, path, params) => {
  expect(openApiPath(route)).toEqual({ path, params });
});

describe('the check of all routes finds', () => {
  it('a route without a policy, also behind another handler or for all methods', () => {
    const app = new Hono<AppEnv>()
      .get('/bare', (c) => c.text('x'))
      .get(
        '/late',
        async (_c, next) => next(),
        allow('read', { summary: 'late' }),
        (c) => c.text('x'),
      )
      .all('/all', (c) => c.text('x'));
    app.route('/', sample());
    expect(routesWithoutPolicy(app.routes)).toEqual(['GET /bare', 'GET /late', 'ALL /all']);
  });

  it('a body that drops fields it does not know', () => {
    const app = new Hono<AppEnv>()
      .post('/strict', allow('read', { summary: 'x' }), jsonBody(z.object({ a: z.string() })), (c) =>
        c.text('x'),
      )
      .post(
        '/deep',
        allow('read', { summary: 'x' }),
        jsonBody(z.object({ a: z.array(z.object({ b: z.string() })) })),
        (c) => c.text('x'),
      );
    expect(routesThatIgnoreFields(app.routes)).toEqual(['POST /deep']);
  });

  it('nothing wrong with the routes of tokens', () => {
    expect(routesWithoutPolicy(tokenRoutes.routes)).toEqual([]);
    expect(routesThatIgnoreFields(tokenRoutes.routes)).toEqual([]);
  });
});
