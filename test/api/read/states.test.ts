// States one by one over HTTP: how each stands, and what was tried.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { attemptAnswer, type StateAnswer, stateAnswer } from '../../../schema/read-answers.ts';
import { BLOG, h, type ReadRig, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
  await rig.register('blog', BLOG);
});
afterEach(() => rig.stop());

const STATES = '/api/workflows/blog/states';
const states = (query: string) => rig.get<StateAnswer[]>(`${STATES}${query}`);
const names = (list: readonly StateAnswer[]) => list.map(({ stage, entity }) => `${stage}@${entity}`);

test('states tell their word, why, and who works on them until when', async () => {
  await rig.see({ 'logs/a.txt': 'v1', 'logs/b.txt': 'b' });
  const [a, b] = await rig.claim(2);
  await rig.make(a!, { 'logs/a.txt': 'v1' }, { 'summaries/a.txt': 's' });
  const list = (await states('')).map((state) => stateAnswer.parse(state));
  expect(names(list)).toEqual(['logs@a', 'summary@a', 'blog@a', 'logs@b', 'summary@b', 'blog@b']);
  expect(list[1]).toEqual({
    ...{ stage: 'summary', entity: 'a', status: 'fresh', reasons: [], attempts: 0, error: null },
    ...{ next_retry_at: null, runner: null, lease_until: null, content_hash: h('s') },
    cache_key: expect.stringMatching(/^blake3:/),
  });
  expect(list[4]).toMatchObject({
    ...{ stage: 'summary', status: 'running', runner: 'hand', lease_until: '2026-01-15T10:01:00.000Z' },
  });
  expect(list[5]).toMatchObject({ status: 'waiting', reasons: ['stage not found in lock file — new stage'] });
  await rig.fail(b!, 'no disk');
  await rig.see({ 'logs/a.txt': 'v2' });
  const [changed, failed] = await states('?stage=summary');
  expect(changed).toMatchObject({ status: 'stale' });
  expect(changed!.reasons).toEqual([
    expect.stringMatching(/^deps_hash changed: logs\/a\.txt \[blake3:\w+ → blake3:\w+\]$/),
  ]);
  expect(failed).toMatchObject({
    ...{
      status: 'failed',
      error: 'no disk',
      attempts: 1,
      next_retry_at: '2026-01-15T10:01:00.000Z',
      runner: null,
    },
    reasons: [expect.anything(), 'last attempt failed (attempt 1): no disk'],
  });
});

test('states are found by stage, word and entity, alone and together', async () => {
  await rig.see({ 'logs/a.txt': 'a', 'logs/b.txt': 'b', 'logs/c.txt': 'c' });
  const [a, b] = await rig.claim(2);
  await rig.make(a!, { 'logs/a.txt': 'a' }, { 'summaries/a.txt': 's' });
  await rig.fail(b!);
  expect(names(await states('?stage=summary'))).toEqual(['summary@a', 'summary@b', 'summary@c']);
  expect(names(await states('?entity=b'))).toEqual(['logs@b', 'summary@b', 'blog@b']);
  expect(names(await states('?status=stale'))).toEqual(['blog@a', 'summary@c']);
  expect(names(await states('?status=waiting'))).toEqual(['blog@b', 'blog@c']);
  expect(names(await states('?status=failed'))).toEqual(['summary@b']);
  expect(names(await states('?status=fresh&stage=logs&entity=c'))).toEqual(['logs@c']);
  expect(names(await states('?status=fresh&stage=summary&entity=c'))).toEqual([]);
  expect(names(await states('?status=edited'))).toEqual([]);
});

test.each(['', '&stage=blog', '&status=waiting', '&status=fresh'])(
  'the Link header leads through all states%s, each on one page',
  async (filter) => {
    const files = Array.from({ length: 13 }, (_, i) => [`logs/e${i}.txt`, 'x'] as const);
    await rig.see(Object.fromEntries(files));
    const all = names(await states(`?limit=1000${filter}`));
    const seen: string[] = [];
    let next: string | undefined = `${STATES}?limit=4${filter}`;
    while (next !== undefined) {
      const response = await rig.request(next);
      seen.push(...names((await response.json()) as StateAnswer[]));
      next = /<(.*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual(all);
    expect(all.length).toBe(filter === '' ? 39 : 13);
  },
);

test('what was tried is listed newest first, with the end of its log', async () => {
  await rig.see({ 'logs/a.txt': 'a' });
  for (const error of ['one', 'two']) {
    const [a] = await rig.claim(1);
    await rig.fail(a!, error);
    rig.clock.ms += 100_000;
  }
  const list = await rig.get<unknown[]>('/api/workflows/blog/attempts?stage=summary&entity=a');
  expect(list.map((each) => attemptAnswer.parse(each))).toMatchObject([
    {
      token: 2,
      outcome: 'failed',
      exit_code: 3,
      error: 'two',
      log_tail: '… two',
      runner: 'hand',
      kind: 'make',
    },
    { token: 1, error: 'one', started_at: '2026-01-15T10:00:00.000Z', ended_at: '2026-01-15T10:00:00.000Z' },
  ]);
  const first = await rig.request('/api/workflows/blog/attempts?stage=summary&entity=a&limit=1');
  const next = /<(.*)>; rel="next"/.exec(first.headers.get('Link')!)![1]!;
  expect(await rig.get(next)).toMatchObject([{ token: 1 }]);
  expect(await rig.get('/api/workflows/blog/attempts?stage=blog&entity=a')).toEqual([]);
});

test('wrong names and wrong questions are told apart', async () => {
  await rig.see({ 'logs/alpha.txt': 'a' });
  const code = async (path: string) => {
    const response = await rig.request(`/api/workflows/${path}`);
    const { code: word, hint } = (await response.json()) as { code: string; hint: string };
    return `${response.status} ${word} ${hint}`;
  };
  expect(await code('blgo/states')).toBe("404 unknown-workflow did you mean 'blog'?");
  expect(await code('blog/states?stage=sumary')).toBe("404 unknown-stage did you mean 'summary'?");
  expect(await code('blog/states?entity=alpah')).toBe("404 unknown-entity did you mean 'alpha'?");
  expect(await code('blog/why?stage=blgo&entity=alpha')).toBe("404 unknown-stage did you mean 'blog'?");
  expect(await code('blog/why?stage=blog&entity=alpah')).toBe("404 unknown-entity did you mean 'alpha'?");
  expect(await code('blog/attempts?stage=blog&entity=alpah')).toBe(
    "404 unknown-entity did you mean 'alpha'?",
  );
  expect(await code('blog/states?status=complete')).toMatch(/^400 invalid-query/);
  expect(await code('blog/states?after=1')).toMatch(/^400 invalid-query/);
  expect(await code('blog/states?limit=1001')).toMatch(/^400 invalid-query/);
  expect(await code('blog/why')).toMatch(/^400 invalid-query/);
  expect(rig.reported).toEqual([]);
});
