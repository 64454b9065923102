// The control plane about itself, over HTTP.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OpenApiDocument } from '../../../api/http/openapi.ts';
import { listRoutes } from '../../../api/http/route-list.ts';
import { routesThatIgnoreFields, routesWithoutPolicy } from '../http/route-checks.ts';
import { BLOG, type ReadRig, ROOT, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
});
afterEach(() => rig.stop());

test('health is anybody’s to ask and looks at the database once', async () => {
  const before = rig.db.stats.statements;
  const response = await rig.app.request('/healthz');
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok', version: '0.0.0-test' }]);
  expect(rig.db.stats.statements - before).toBe(1);
});

test('health fails with the database', async () => {
  await rig.db.close();
  const response = await rig.app.request('/healthz');
  expect(response.status).toBe(500);
  expect(rig.reported.length).toBe(1);
});

test('metrics count states by workflow, stage and word, and how long machines were not heard of', async () => {
  await rig.register('a "b"\n\\', BLOG);
  await rig.see({ 'logs/a.txt': 'a', 'logs/b.txt': 'b' });
  await rig.claim(1);
  rig.clock.ms += 2_500;
  const response = await rig.request('/metrics');
  expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n');
  for (const line of [
    '# TYPE sluice_states gauge',
    'sluice_info{version="0.0.0-test"} 1',
    'sluice_states{workflow="a \\"b\\"\\n\\\\",stage="logs",word="fresh"} 2',
    'sluice_states{workflow="a \\"b\\"\\n\\\\",stage="summary",word="running"} 1',
    'sluice_states{workflow="a \\"b\\"\\n\\\\",stage="blog",word="waiting"} 2',
    'sluice_entities{workflow="a \\"b\\"\\n\\\\"} 2',
    'sluice_machine_last_seen_seconds{role="runner",name="hand"} 2.5',
    'sluice_events_total 2',
    'sluice_attempts_total 1',
  ])
    expect(lines).toContain(line);
  expect(
    lines.every((line) => /^(# (HELP|TYPE) sluice_\w+ .+|sluice_\w+(\{.*\})? [\d.]+|)$/.test(line)),
  ).toBe(true);
});

test('machines are listed with when they were last heard of', async () => {
  await rig.see({});
  rig.clock.ms += 60_000;
  await rig.claim(1);
  expect(await rig.get('/api/machines')).toMatchObject([
    { role: 'runner', name: 'hand', facts: { free: { cores: 1 } }, last_seen_at: '2026-01-15T10:01:00.000Z' },
    { role: 'watcher', name: 'eye', targets: ['local'], last_seen_at: '2026-01-15T10:00:00.000Z' },
  ]);
});

test('what is about all workflows is not for a token of one', async () => {
  for (const path of ['/metrics', '/api/machines'])
    expect((await rig.request(path, {}, { ...ROOT, workflow: 'blog' })).status).toBe(403);
});

test('the description names every route once, with its shapes', async () => {
  const document = (await (await rig.app.request('/api/openapi.json')).json()) as OpenApiDocument;
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      '/api/pipeline/{workflow}/status',
      '/api/pipeline/{workflow}/entities',
      '/api/pipeline/{workflow}/entity/{entity}',
      '/api/pipeline/{workflow}/entity/{entity}/retry',
      '/api/pipeline/{workflow}/invalidate',
      '/api/workflows/{name}/states',
      '/api/workflows/{name}/why',
      '/api/workflows/{name}/attempts',
      '/api/events',
      '/api/events/stream',
      '/healthz',
      '/metrics',
      '/api/machines',
    ]),
  );
});

test('every route and every spelling of it has a policy and knows its fields', () => {
  expect(routesWithoutPolicy(rig.app.routes)).toEqual([]);
  expect(routesThatIgnoreFields(rig.app.routes)).toEqual([]);
  const open = listRoutes(rig.app.routes).filter(({ policy }) => policy?.access === 'public');
  expect(open.map(({ path }) => path)).toEqual(['/healthz', '/api/openapi.json']);
});
