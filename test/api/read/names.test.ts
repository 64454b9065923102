// Names in URLs: whatever a workflow or an entity is called, asking for it finds it.

import fc from 'fast-check';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AppEnv } from '../../../api/parts.ts';
import { withAnyNames } from '../../../api/routes/any-name.ts';
import { BLOG, type ReadRig, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
});
afterEach(() => rig.stop());

const awkward = [
  '/',
  ' ',
  '%',
  '%2F',
  '%25',
  '+',
  '?',
  '#',
  '&',
  ':',
  '{',
  '}',
  '*',
  '\n',
  '\r',
  '\t',
  '\\',
  ';',
  '..',
  '.',
];
const words = [
  'status',
  'entity',
  'entities',
  'retry',
  'invalidate',
  'a',
  'ü',
  '日本',
  '👩‍👩‍👧',
  '\u202e',
  'x',
];
/** Anything that a database can hold; the routes' own words often, because these are what could be mixed up. */
const anyName = fc
  .array(
    fc.oneof(
      fc.constantFrom(...awkward, ...words),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }).filter((text) => !text.includes('\0')),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  // A browser takes `.` and `..` out of a path before anybody can see them, encoded or not.
  .filter((name) => name !== '.' && name !== '..' && name.isWellFormed());

/** The routes of pipelines, answering only with what they understood. */
function echo() {
  const told = (c: { req: { param(): Record<string, string> } }) => c.req.param();
  const routes = new Hono<AppEnv>()
    .get('/api/pipeline/:workflow/entity/:entity', (c) => c.json({ at: 'entity', ...told(c) }))
    .post('/api/pipeline/:workflow/entity/:entity/retry', (c) => c.json({ at: 'retry', ...told(c) }))
    .get('/api/pipeline/:workflow/status', (c) => c.json({ at: 'status', ...told(c) }))
    .get('/api/pipeline/:workflow/entities', (c) => c.json({ at: 'entities', ...told(c) }))
    .post('/api/pipeline/:workflow/invalidate', (c) => c.json({ at: 'invalidate', ...told(c) }));
  return new Hono<AppEnv>().route('/', withAnyNames(routes, ['workflow', 'entity']));
}

test('a name that is encoded arrives as it was, whatever it is made of', async () => {
  const app = echo();
  const ask = async (method: string, path: string) => (await app.request(path, { method })).json();
  await fc.assert(
    fc.asyncProperty(anyName, anyName, async (workflow, entity) => {
      const [w, e] = [encodeURIComponent(workflow), encodeURIComponent(entity)];
      expect(await ask('GET', `/api/pipeline/${w}/entity/${e}`)).toEqual({ at: 'entity', workflow, entity });
      expect(await ask('POST', `/api/pipeline/${w}/entity/${e}/retry`)).toEqual({
        at: 'retry',
        workflow,
        entity,
      });
      expect(await ask('GET', `/api/pipeline/${w}/status`)).toEqual({ at: 'status', workflow });
      expect(await ask('GET', `/api/pipeline/${w}/entities`)).toEqual({ at: 'entities', workflow });
      expect(await ask('POST', `/api/pipeline/${w}/invalidate`)).toEqual({ at: 'invalidate', workflow });
    }),
    { numRuns: 500 },
  );
});

test('raw slashes are understood where they can mean one thing only', async () => {
  const app = echo();
  const ask = async (method: string, path: string) => (await app.request(path, { method })).json();
  const plain = fc
    .array(fc.constantFrom('a', 'b c', 'ü', '日本', '100%', '👍', 'x\ny'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));
  const raw = (name: string) => name.split('/').map(encodeURIComponent).join('/');
  await fc.assert(
    fc.asyncProperty(plain, plain, async (workflow, entity) => {
      const [w, e] = [raw(workflow), raw(entity)];
      expect(await ask('GET', `/api/pipeline/${w}/entity/${e}`)).toEqual({ at: 'entity', workflow, entity });
      expect(await ask('POST', `/api/pipeline/${w}/entity/${e}/retry`)).toEqual({
        at: 'retry',
        workflow,
        entity,
      });
      expect(await ask('GET', `/api/pipeline/${w}/status`)).toEqual({ at: 'status', workflow });
      expect(await ask('POST', `/api/pipeline/${w}/invalidate`)).toEqual({ at: 'invalidate', workflow });
    }),
    { numRuns: 300 },
  );
});

test('where a raw slash could mean two things, the encoded form decides', async () => {
  const app = echo();
  const ask = async (path: string) => (await app.request(path)).json();
  const at = 'entity';
  expect(await ask('/api/pipeline/a/entity/status')).toEqual({ at, workflow: 'a', entity: 'status' });
  expect(await ask('/api/pipeline/a/entity/entity')).toEqual({ at, workflow: 'a', entity: 'entity' });
  expect(await ask('/api/pipeline/a%2Fentity/status')).toEqual({ at: 'status', workflow: 'a/entity' });
  expect(await ask('/api/pipeline/a/entity/x%2Fstatus')).toEqual({ at, workflow: 'a', entity: 'x/status' });
  expect(await ask('/api/pipeline/a/entity/x/status')).toEqual({ at, workflow: 'a', entity: 'x/status' });
});

test('the entity without a name is found with and without its slash', async () => {
  const app = echo();
  for (const path of ['/api/pipeline/a/entity/', '/api/pipeline/a/entity', '/api/pipeline/a%2Fb/entity/'])
    expect(await (await app.request(path)).json()).toMatchObject({ at: 'entity' });
  for (const path of ['/api/pipeline/a/entity//retry', '/api/pipeline/a/entity/retry'])
    expect(await (await app.request(path, { method: 'POST' })).json()).toEqual({
      at: 'retry',
      workflow: 'a',
    });
});

test('names with slashes, spaces, percent signs, emoji and line breaks are found in the database', async () => {
  const workflow = 'team/ä b%/100%25\n👍';
  const entities = ['hacker news/1%2F2', 'a\nb/ü', '👩‍👩‍👧/?&=#', '%/%25', 'o\'clock/"x"'];
  await rig.register(workflow, BLOG.replaceAll('{date}', '{feed}/{guid}'));
  await rig.see(Object.fromEntries(entities.map((entity) => [`logs/${entity}.txt`, entity])));
  const w = encodeURIComponent(workflow);
  const listed = await rig.get<{ id: string }[]>(`/api/pipeline/${w}/entities`);
  expect(listed.map(({ id }) => id)).toEqual(entities);
  for (const entity of entities) {
    const e = encodeURIComponent(entity);
    expect(await rig.get(`/api/pipeline/${w}/entity/${e}`)).toMatchObject({ id: entity });
    expect(await rig.get(`/api/workflows/${w}/states?entity=${e}`)).toMatchObject([
      { entity },
      { entity },
      { entity },
    ]);
    expect(await rig.get(`/api/workflows/${w}/why?stage=summary&entity=${e}`)).toMatchObject({
      entity,
      workflow,
    });
    expect(
      await rig.get(`/api/pipeline/${w}/entity/${entity.split('/').map(encodeURIComponent).join('/')}`),
    ).toMatchObject({
      id: entity,
    });
  }
});
