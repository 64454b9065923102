// What holds for every route there is: it says who may use it, refuses fields it does not know, and is documented.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { listRoutes } from '../../../api/http/route-list.ts';
import { type Shape, startInProcess } from '../../rig/control-plane-shapes.ts';
import { routesThatIgnoreFields, routesWithoutPolicy } from '../http/route-checks.ts';

let shape: Shape;
let routes: Parameters<typeof listRoutes>[0];
beforeAll(async () => {
  shape = await startInProcess();
  routes = createApp(shape.parts!).routes;
});
afterAll(() => shape.stop());

interface Operation {
  readonly summary: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly security?: readonly unknown[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const openApi = async () => (await (await shape.fetch('/api/openapi.json')).json()) as Document;

test('no route is without a policy', () => {
  expect(listRoutes(routes).length).toBeGreaterThan(25);
  expect(routesWithoutPolicy(routes)).toEqual([]);
});

test('only what anybody may know is public', () => {
  const isPublic = listRoutes(routes).filter(({ policy }) => policy?.access === 'public');
  expect(isPublic.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /healthz',
    'GET /api/openapi.json',
  ]);
});

test('no route ignores a field it does not know', () => {
  expect(routesThatIgnoreFields(routes)).toEqual([]);
});

test('every route is refused without a credential, unless it is public', async () => {
  for (const { method, path, policy } of listRoutes(routes)) {
    const place = path.replaceAll(/:\w+(\{[^}]*\})?/g, 'x');
    const response = await shape.fetch(place, { method, headers: { Authorization: 'none' } });
    expect([method, path, response.status]).toEqual([method, path, policy!.access === 'public' ? 200 : 401]);
    await response.body?.cancel();
  }
});

test('the OpenAPI document has every route, with its parameters, answers and security', async () => {
  const { openapi, paths } = await openApi();
  expect(openapi).toMatch(/^3\.1\./);
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // Spellings with raw slashes are the same route to whoever reads about it.
  const plain = (path: string) => path.replaceAll(/:(\w+)(\{[^}]*\})?/g, '{$1}');
  const declared = new Set(listRoutes(routes).map(({ method, path }) => `${method} ${plain(path)}`));
  for (const each of documented) expect(declared).toContain(each);
  for (const needed of [
    ...['PUT /api/workflows/{name}', 'POST /api/work/claim', 'GET /api/pipeline/{workflow}/entity/{entity}'],
    ...['POST /api/observations', 'GET /api/events/stream', 'GET /metrics', 'POST /api/tokens'],
  ])
    expect(documented).toContain(needed);
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) {
      expect(operation.summary).toMatch(/./);
      expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
      const inPath = (operation.parameters ?? [])
        .filter((each) => each.in === 'path')
        .map(({ name }) => name);
      expect(inPath.toSorted()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted());
    }
  }
});

test('every reference in the OpenAPI document leads somewhere', async () => {
  const document = await openApi();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  for (const reference of references) {
    const names = reference.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = names.reduce<unknown>(
      (at, name) => (at as Record<string, unknown> | undefined)?.[name],
      document,
    );
    expect([reference, found]).toEqual([reference, expect.anything()]);
  }
});
