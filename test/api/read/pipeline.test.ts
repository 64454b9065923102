// The endpoints of pipelines over HTTP, on states that watchers and runners brought about.

import { hc } from 'hono/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../../api/parts.ts';
import type { pipelineRoutes } from '../../../api/routes/pipeline.ts';
import type { stateRoutes } from '../../../api/routes/states.ts';
import { entityAnswer, statusAnswer } from '../../../schema/read-answers.ts';
import { BLOG, h, type ReadRig, ROOT, stage, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
});
afterEach(() => rig.stop());

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

async function problem(path: string, init?: RequestInit, caller?: Caller) {
  const response = await rig.request(path, init, caller);
  return { status: response.status, ...((await response.json()) as { code: string; hint: string }) };
}

async function dropFiles(...names: string[]): Promise<void> {
  await rig.see(Object.fromEntries(names.map((name) => [`logs/${name}.txt`, `log of ${name}`])));
}

test('status counts entities and what is to be done, and keeps the seed’s fields', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a', 'b', 'c');
  const [a, b] = await rig.claim(2);
  await rig.make(a!, { 'logs/a.txt': 'log of a' }, { 'summaries/a.txt': 'sa' });
  await rig.fail(b!);
  await rig.claim(1);
  const status = statusAnswer.parse(await rig.get('/api/pipeline/blog/status'));
  expect(status).toMatchObject({ entities: 3, stale: 3, failed: 1, processing: 1, fresh: 3 + 1, waiting: 2 });
  expect(status).toMatchObject({ blocked: 0, blocked_is_exact: true, paused: false });
  expect(status.stages).toMatchObject({
    logs: { fresh: 3 },
    summary: { fresh: 1, failed: 1, stale: 1 },
    blog: { processing: 1, stale: 2, waiting: 2 },
  });
});

test('what stands downstream of a state that gave up is counted as blocked', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a', 'b');
  for (const _ of [1, 2]) {
    const claimed = await rig.claim();
    await rig.fail(claimed.find(({ entity }) => entity === 'a')!);
    rig.clock.ms += 100_000;
  }
  const status = await rig.get('/api/pipeline/blog/status');
  expect(status).toMatchObject({
    failed: 1,
    exhausted: 1,
    blocked: 1,
    stages: { blog: { stale: 2, blocked: 1 }, summary: { blocked: 0 } },
  });
});

test('where more gave up than are followed, status says that it did not count all that is blocked', async () => {
  await rig.register('blog', BLOG);
  const names = Array.from({ length: 1_200 }, (_, i) => `e${i}`);
  await dropFiles(...names);
  const giveUp =
    "UPDATE states SET status = 'exhausted' WHERE stage_id = (SELECT id FROM stages WHERE name = 'summary')";
  await rig.db.batch([{ sql: giveUp, args: [] }], 'write');
  expect(await rig.get('/api/pipeline/blog/status')).toMatchObject({
    ...{ exhausted: 1_200, blocked: 1_000, blocked_is_exact: false },
  });
});

test('a workflow that reads what another gave up on is blocked, too', async () => {
  await rig.register('blog', BLOG);
  await rig.register(
    'social',
    JSON.stringify({
      mode: 'pipeline',
      stateRoot: '.',
      stages: [
        { id: 'summary', type: 'source', pattern: 'summaries/{date}.txt' },
        stage('tweet', 'summary', 'tweets/{date}.json'),
      ],
    }),
  );
  await dropFiles('a');
  for (const _ of [1, 2]) {
    const [a] = await rig.claim(1);
    await rig.fail(a!);
    rig.clock.ms += 100_000;
  }
  expect(await rig.get('/api/pipeline/social/status')).toMatchObject({ stages: { tweet: { blocked: 1 } } });
});

test('status has a tag, and says "not modified" until something changes', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a');
  const first = await rig.request('/api/pipeline/blog/status');
  const tag = first.headers.get('ETag')!;
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
  const again = (header: string) =>
    rig.request('/api/pipeline/blog/status', { headers: { 'If-None-Match': header } });
  const unchanged = await again(tag);
  expect([unchanged.status, await unchanged.text(), unchanged.headers.get('ETag')]).toEqual([304, '', tag]);
  expect((await again(`"other", W/${tag}`)).status).toBe(304);
  await dropFiles('b');
  const changed = await again(tag);
  expect(changed.status).toBe(200);
  expect(changed.headers.get('ETag')).not.toBe(tag);
});

test('entities are a bare array in the order they came, with one word per stage', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('z', 'a');
  const [first] = await rig.claim(1);
  await rig.make(first!, { 'logs/z.txt': 'log of z' }, { 'summaries/z.txt': 's' });
  expect(await rig.get('/api/pipeline/blog/entities')).toEqual([
    { id: 'z', stages: { logs: 'complete', summary: 'complete', blog: 'stale' } },
    { id: 'a', stages: { logs: 'complete', summary: 'stale', blog: 'stale' } },
  ]);
});

test('the Link header leads through all pages, and each entity is on one of them', async () => {
  await rig.register('team/blog', BLOG);
  await rig.register(
    'other',
    BLOG.replaceAll('logs/', 'others/').replaceAll('ies/', 'y/').replaceAll('blogs/', 'b/'),
  );
  const names = Array.from({ length: 25 }, (_, i) => `e${i}`);
  for (const name of names) await rig.see({ [`logs/${name}.txt`]: name, [`others/${name}.txt`]: name });
  for (const filter of ['', '&status=stale', '&status=complete']) {
    const seen: string[] = [];
    let next: string | undefined = `/api/pipeline/team%2Fblog/entities?limit=10${filter}`;
    while (next !== undefined) {
      const response = await rig.request(next);
      seen.push(...((await response.json()) as { id: string }[]).map(({ id }) => id));
      next = /<(.*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual(names);
  }
});

test('entities can be asked for by a word, which means at least one of their stages', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a', 'b', 'c', 'd');
  const [a, b, c] = await rig.claim(4);
  await rig.fail(b!);
  await rig.make(c!, { 'logs/c.txt': 'log of c' }, { 'summaries/c.txt': 's' });
  await rig.see({ 'logs/d.txt': null });
  expect(a!.entity).toBe('a');
  const ids = async (status: string) =>
    (await rig.get<{ id: string }[]>(`/api/pipeline/blog/entities?status=${status}`)).map(({ id }) => id);
  expect(await ids('failed')).toEqual(['b']);
  expect(await ids('processing')).toEqual(['a', 'd']);
  expect(await ids('stale')).toEqual(['a', 'b', 'c', 'd']);
  expect(await ids('complete')).toEqual(['a', 'b', 'c']);
  expect(await ids('orphan')).toEqual(['d']);
  expect((await rig.request('/api/pipeline/blog/entities?status=fresh')).status).toBe(400);
});

test('an entity shows its manifest as the seed has it', async () => {
  await rig.register('auto-blog', BLOG);
  await dropFiles('2026-01-15');
  rig.clock.ms += 60_000;
  const [summary] = await rig.claim(1);
  await rig.make(
    summary!,
    { 'logs/2026-01-15.txt': 'log of 2026-01-15', 'prompt.txt': 'p' },
    { 'summaries/2026-01-15.txt': 'made' },
  );
  const answer = entityAnswer.parse(await rig.get('/api/pipeline/auto-blog/entity/2026-01-15'));
  expect(answer).toMatchObject({
    id: '2026-01-15',
    manifest: {
      entity_id: '2026-01-15',
      states: {
        logs: {
          path: 'logs/2026-01-15.txt',
          is_source: true,
          discovered_at: '2026-01-15T10:00:00.000Z',
          content_hash: h('log of 2026-01-15'),
        },
        summary: {
          path: 'summaries/2026-01-15.txt',
          code_hash: h('recipe'),
          content_hash: h('made'),
          produced_at: '2026-01-15T10:01:00.000Z',
          produced_by: 'auto-blog#summary',
          input_hashes: { logs: h('log of 2026-01-15'), 'prompt.txt': h('p') },
          status: 'fresh',
          runner: 'hand',
        },
        blog: { path: 'blogs/2026-01-15.md', status: 'stale', produced_at: null, produced_by: null },
      },
    },
    failures: {},
  });
});

test('several inputs from one stage go by their paths', async () => {
  await rig.register(
    'digest',
    `stages:
  word: {deps: [{path: "in/{x}.txt"}], outs: [{path: "words/{x}.txt"}], cmd: w}
  all: {deps: [{path: "words/{x}.txt"}], outs: [{path: all.txt}], cmd: a}
`,
  );
  await rig.see({ 'in/a.txt': 'a', 'in/b.txt': 'b' });
  for (const item of await rig.claim(2))
    await rig.make(
      item,
      { [`in/${item.entity}.txt`]: item.entity },
      { [`words/${item.entity}.txt`]: item.entity },
    );
  const [all] = await rig.claim(1);
  await rig.make(all!, { 'words/a.txt': 'a', 'words/b.txt': 'b' }, { 'all.txt': 'ab' });
  expect(await rig.get('/api/pipeline/digest/entity/')).toMatchObject({
    id: '',
    manifest: {
      states: { all: { path: 'all.txt', input_hashes: { 'words/a.txt': h('a'), 'words/b.txt': h('b') } } },
    },
  });
});

test('an entity shows what failed, how often, and when it is tried again', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a');
  const [a] = await rig.claim(1);
  await rig.fail(a!, 'Claude API timeout');
  expect(await rig.get('/api/pipeline/blog/entity/a')).toMatchObject({
    manifest: { states: { summary: { status: 'failed' }, blog: { status: 'waiting' } } },
    failures: {
      summary: {
        error: 'Claude API timeout',
        error_details: '… Claude API timeout',
        attempts: 1,
        first_failed_at: '2026-01-15T10:00:00.000Z',
        last_failed_at: '2026-01-15T10:00:00.000Z',
        next_retry_at: '2026-01-15T10:01:00.000Z',
      },
    },
  });
});

test('retry queues what failed at once and says how much that was', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a');
  const [a] = await rig.claim(1);
  await rig.fail(a!);
  expect(await rig.claim(1)).toEqual([]);
  const response = await rig.request('/api/pipeline/blog/entity/a/retry', { method: 'POST' });
  expect([response.status, await response.json()]).toEqual([200, { status: 'queued', retried: 1 }]);
  expect(await rig.claim(1)).toMatchObject([{ stage: 'summary', entity: 'a' }]);
});

test('retry and invalidate wake whoever waits for work', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a');
  const woken = rig.bell.wait(10_000);
  await rig.request('/api/pipeline/blog/invalidate', post({ stage_id: 'summary' }));
  await woken;
  const wokenAgain = rig.bell.wait(10_000);
  await rig.request('/api/pipeline/blog/entity/a/retry', { method: 'POST' });
  await wokenAgain;
});

test('invalidate makes states stale by stage, by entity or by both', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a', 'b');
  for (const item of await rig.claim(2))
    await rig.make(
      item,
      { [`logs/${item.entity}.txt`]: `log of ${item.entity}` },
      { [`summaries/${item.entity}.txt`]: 's' },
    );
  const invalidate = async (body: unknown) =>
    (await rig.request('/api/pipeline/blog/invalidate', post(body))).json();
  expect(await invalidate({ stage_id: 'summary', entity_id: 'a' })).toEqual({ invalidated: 1 });
  expect(await rig.get('/api/pipeline/blog/status')).toMatchObject({
    stages: { summary: { stale: 1, fresh: 1 } },
  });
  expect(await invalidate({ stage_id: 'summary' })).toEqual({ invalidated: 2 });
  expect(await invalidate({ entity_id: 'b' })).toEqual({ invalidated: 2 });
  expect(await invalidate({})).toEqual({ invalidated: 4 });
});

test('an unknown workflow, stage or entity is told with the name that was probably meant', async () => {
  await rig.register('auto-blog', BLOG);
  await dropFiles('2026-01-15');
  expect(await problem('/api/pipeline/auto-blogg/status')).toMatchObject({
    status: 404,
    code: 'unknown-workflow',
    hint: "did you mean 'auto-blog'?",
  });
  expect(await problem('/api/pipeline/nothing-like-it/entities')).toMatchObject({ status: 404 });
  expect(await problem('/api/pipeline/auto-blog/entity/2026-01-51')).toMatchObject({
    status: 404,
    code: 'unknown-entity',
    hint: "did you mean '2026-01-15'?",
  });
  expect(await problem('/api/pipeline/auto-blog/entity/2026-01-16/retry', { method: 'POST' })).toMatchObject({
    status: 404,
    code: 'unknown-entity',
  });
  for (const [body, code, hint] of [
    [{ stage_id: 'sumary' }, 'unknown-stage', "did you mean 'summary'?"],
    [{ entity_id: '2026-01-14' }, 'unknown-entity', "did you mean '2026-01-15'?"],
    [{ stage_id: 'summary', entity_id: 'x' }, 'unknown-entity', expect.any(String)],
  ] as const)
    expect(await problem('/api/pipeline/auto-blog/invalidate', post(body))).toMatchObject({
      status: 404,
      code,
      hint,
    });
  expect(await rig.get('/api/pipeline/auto-blog/status')).toMatchObject({ stale: 2 });
});

test('a workflow that another process registered is found, and one that it changed is seen as it is', async () => {
  await rig.register('blog', BLOG);
  await rig.get('/api/pipeline/blog/status');
  const other = await import('../../../api/store/registered.ts');
  const elsewhere = { ...rig.store, registered: new other.RegisteredCache(rig.db) };
  const { registerWorkflow } = await import('../../../api/store/register-workflow.ts');
  const { loadWorkflow } = await import('../../../schema/load-workflow.ts');
  const loaded = loadWorkflow(BLOG.replace('"blog"', '"post"'), { name: 'news', root: '/q' });
  if (loaded.kind !== 'workflow') throw new Error('not a workflow');
  for (const name of ['news', 'blog'])
    await registerWorkflow(elsewhere, {
      name,
      workflow: loaded.workflow,
      source: '',
      root: '/q',
      target: 'local',
      by: 'x',
    });
  expect(await rig.get('/api/pipeline/news/status')).toMatchObject({ entities: 0 });
  expect(Object.keys((await rig.get<{ stages: object }>('/api/pipeline/blog/status')).stages)).toContain(
    'post',
  );
});

test('who may only read may not retry or invalidate, and a limited token sees its own workflow only', async () => {
  await rig.register('blog', BLOG);
  await dropFiles('a');
  const reader: Caller = { ...ROOT, name: 'reader', scopes: ['read'] };
  const limited: Caller = { ...ROOT, name: 'limited', workflow: 'other' };
  const own: Caller = { ...ROOT, name: 'own', workflow: 'blog' };
  const asked: [string, RequestInit][] = [
    ['/api/pipeline/blog/entity/a/retry', { method: 'POST' }],
    ['/api/pipeline/blog/invalidate', post({})],
  ];
  const looked: [string, RequestInit][] = ['status', 'entities', 'entity/a'].map((what) => [
    `/api/pipeline/blog/${what}`,
    {},
  ]);
  for (const [path, init] of asked)
    expect(await problem(path, init, reader)).toMatchObject({ status: 403, code: 'scope-missing' });
  for (const [path, init] of looked) expect((await rig.request(path, init, reader)).status).toBe(200);
  for (const [path, init] of [...asked, ...looked]) {
    expect(await problem(path, init, limited)).toMatchObject({ status: 403, code: 'outside-limits' });
    expect((await rig.request(path, init, own)).status).toBe(200);
  }
  expect(rig.reported).toEqual([]);
});

test('the typed client knows the answers', async () => {
  await rig.register('team/blog', BLOG);
  await dropFiles('a');
  const fetch = (input: Request | URL | string, init?: RequestInit) =>
    Promise.resolve(rig.app.fetch(new Request(input, init), { trusted: ROOT }));
  const { api } = hc<typeof pipelineRoutes>('http://sluice', { fetch });
  const param = { workflow: encodeURIComponent('team/blog') };
  const status = await api.pipeline[':workflow'].status.$get({ param });
  const entities: number | undefined = status.status === 200 ? (await status.json()).entities : undefined;
  expect(entities).toBe(1);
  const [first] = await (
    await api.pipeline[':workflow'].entities.$get({ param, query: { limit: '1' } })
  ).json();
  const word: 'complete' | 'stale' | 'processing' | 'failed' | 'orphan' | undefined = first!.stages.summary;
  expect(word).toBe('stale');
  const states = hc<typeof stateRoutes>('http://sluice', { fetch }).api.workflows[':name'];
  const query = { stage: 'blog', entity: 'a' };
  const why = await (await states.why.$get({ param: { name: param.workflow }, query })).json();
  const above: string | undefined = why.upstream[0]?.stage;
  expect(above).toBe('summary');
});
