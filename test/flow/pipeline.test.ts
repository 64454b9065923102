// Pipelines end to end with the real program: what the design of pipelines promises, by `run` and by `up`.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { project } from '../rig/project.ts';
import { startUp, until } from '../rig/up.ts';

const LIMIT = { timeout: 30_000 };

const command = (id: string, input: string, pattern: string, cmd: string) => ({
  ...{ id, type: 'transform', input, pattern },
  node: { typeId: 'command', data: { cmd: `echo ${id} >> runs.log; ${cmd}` } },
});

const pipeline = (stages: readonly object[], more: object = {}) =>
  JSON.stringify({ mode: 'pipeline', stateRoot: 'output/', watch: { settle: 0 }, ...more, stages }, null, 2);

const TOPIC = { id: 'topic', type: 'source', pattern: 'topics/{slug}.txt' };
const ARTICLE = command(
  ...['article', 'topic', 'articles/{slug}.md'],
  'test ! -e broken; cat {{input}} > {{output}}',
);
/** It fails while a file `broken` is there; the first wait is short, the second never ends. */
const WRITER = pipeline([TOPIC, ARTICLE], { retryPolicy: { maxAttempts: 6, backoffSeconds: [0, 86_400] } });
const PUBLISHER = pipeline([
  { id: 'article', type: 'source', pattern: 'articles/{slug}.md' },
  {
    ...{ id: 'tweet', type: 'sink', input: 'article', pattern: 'tweets/{slug}.json' },
    node: { typeId: 'set', data: { values: { text: '{{$.article.content}}' } } },
  },
]);

interface Entity {
  readonly manifest: { readonly states: Record<string, { readonly status: string; content_hash: string }> };
  readonly failures: Record<string, { readonly attempts: number; readonly next_retry_at: string | null }>;
}

async function publishing() {
  const rig = project({ 'writer.json': WRITER, 'publisher.json': PUBLISHER, 'output/topics/a.txt': 'A' });
  const up = await startUp(rig.root);
  const headers = { Authorization: `Bearer ${rig.read('.sluice/admin-token').trim()}` };
  const ask = async (path: string) => (await fetch(`${up.url}/api/pipeline/${path}`, { headers })).json();
  return { rig, up, ask, entity: async (path: string) => (await ask(path)) as Entity };
}

describe('under up', () => {
  test(
    'what one workflow makes is the source of another, and only what changed is made again',
    LIMIT,
    async () => {
      const { rig, up, ask } = await publishing();
      await until(() => rig.has('output/tweets/a.json'));
      rig.write('output/topics/b.txt', 'B');
      await until(() => rig.has('output/tweets/b.json'));
      expect(JSON.parse(rig.read('output/tweets/b.json'))).toEqual({ text: 'B' });
      expect(rig.runs('article')).toBe(2);
      expect(await ask('publisher/status')).toMatchObject({
        entities: 2,
        stale: 0,
        failed: 0,
        processing: 0,
      });
      expect(await ask('publisher/entities')).toEqual([
        { id: 'a', stages: { article: 'complete', tweet: 'complete' } },
        { id: 'b', stages: { article: 'complete', tweet: 'complete' } },
      ]);
      // Other code, the same bytes: all articles are made again, and nothing that is made of them.
      const made = () => up.stderr().match(/✓ publisher\/tweet/g)?.length;
      rig.write('writer.json', WRITER.replace('cat {{input}}', 'cat < {{input}}'));
      await until(() => rig.runs('article') === 4);
      await until(async () => ((await ask('writer/status')) as { fresh: number }).fresh === 4);
      expect(made()).toBe(2);
    },
  );

  test('a failure is told with its next attempt, and retry does not wait for it', LIMIT, async () => {
    const { rig, up, entity } = await publishing();
    await until(() => rig.has('output/tweets/a.json'));
    rig.write('broken', '');
    rig.write('output/topics/b.txt', 'B');
    await until(
      () => (up.stderr().match(/article@b failed \(exit code 1\); attempt \d in /g) ?? []).length === 2,
    );
    const { failures } = await entity('writer/entity/b');
    expect(failures.article).toMatchObject({ attempts: 2, next_retry_at: expect.stringMatching(/Z$/) });
    rmSync(join(rig.root, 'broken'));
    const asked = await rig.sluice('retry', 'writer.json', 'article@b');
    expect(asked).toMatchObject({ code: 0, stdout: 'article@b: 1 state will be tried again\n' });
    await until(() => rig.has('output/tweets/b.json'));
    await until(async () => Object.keys((await entity('writer/entity/b')).failures).length === 0);
  });

  test(
    'what is invalidated is made again at once, here and from anywhere, and nothing else is',
    LIMIT,
    async () => {
      const { rig, up } = await publishing();
      await until(() => rig.has('output/tweets/a.json'));
      rig.write('output/topics/b.txt', 'B');
      await until(() => rig.has('output/tweets/b.json'));
      const one = await rig.sluice('invalidate', 'writer.json', 'article@b');
      expect(one).toMatchObject({ code: 0, stdout: 'article@b: 1 state will be made again\n' });
      await until(() => rig.runs('article') === 3);
      const way = ['--api', up.url, '--token-file', join(rig.root, '.sluice', 'admin-token')];
      const all = await rig.sluice('invalidate', 'writer', 'article', '--json', ...way);
      expect(JSON.parse(all.stdout)).toEqual({ workflow: 'writer', stage_id: 'article', invalidated: 2 });
      await until(() => rig.runs('article') === 5);
      expect(up.stderr().match(/✓ publisher\/tweet/g)).toHaveLength(2);
    },
  );
});

const COPIES = (more: object, cmd = 'cat {{input}} > {{output}}') =>
  pipeline([TOPIC, command('copy', 'topic', 'copies/{slug}.txt', cmd)], more);

describe('in a run', () => {
  test('a source that does not pass its filter is no entity until it does', async () => {
    const logs = { id: 'logs', type: 'source', pattern: 'logs/{date}/', filter: { minFiles: 2 } };
    const sum = command('sum', 'logs', 'sums/{date}.txt', 'cat {{input}}/* > {{output}}');
    const p = project({
      'p.yaml': pipeline([logs, sum]),
      'output/logs/d1/a.txt': 'a',
      'output/logs/d1/b.txt': 'b',
      'output/logs/d2/a.txt': 'a',
    });
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
    expect(p.has('output/sums/d2.txt')).toBe(false);
    p.write('output/logs/d2/b.txt', 'b');
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
    expect(p.read('output/sums/d2.txt')).toBe('ab');
  });

  test('maxAttempts are attempts in all; then it has given up until it is asked again', async () => {
    const p = project({
      'p.yaml': COPIES(
        { retryPolicy: { maxAttempts: 3, backoffSeconds: [0] } },
        'test ! -e broken; cp {{input}} {{output}}',
      ),
      'output/topics/a.txt': 'A',
      broken: '',
    });
    expect(await p.run()).toMatchObject({ code: 1, status: 'failed' });
    expect(p.runs('copy')).toBe(3);
    const counts = async () => JSON.parse((await p.sluice('status', 'p.yaml', '--json')).stdout).counts;
    expect(await counts()).toMatchObject({ exhausted: 1 });
    rmSync(join(p.root, 'broken'));
    const asked = await p.sluice('retry', 'p.yaml');
    expect(asked.stdout).toBe('p: 1 state will be tried again; next: sluice run p.yaml\n');
    expect(await counts()).toMatchObject({ exhausted: 0, stale: 1 });
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
    expect((await p.sluice('retry', 'p.yaml', 'copy')).stdout).toContain(
      "nothing of stage 'copy' has failed",
    );
  });

  test('no more entities than maxConcurrentEntities are worked on at once', async () => {
    const names = Array.from({ length: 24 }, (_, i) => `n${i}`);
    const overlapping = 'mkdir busy; cat {{input}} > {{output}}; sh -c "exit 0"; rmdir busy';
    const p = project({
      'p.yaml': COPIES({ maxConcurrentEntities: 1, retryPolicy: { maxAttempts: 1 } }, overlapping),
      ...Object.fromEntries(names.map((name) => [`output/topics/${name}.txt`, name])),
    });
    expect(await p.run('--jobs', '8')).toMatchObject({ code: 0, states_run: 24 });
  });

  test('invalidate makes exactly that stage again, although a run has just found nothing to do', async () => {
    const p = project({ 'p.yaml': COPIES({}), 'output/topics/a.txt': 'A', 'output/topics/b.txt': 'B' });
    await p.run();
    expect(await p.run()).toMatchObject({ states_run: 0 });
    const asked = await p.sluice('invalidate', 'p.yaml', 'copy@b');
    expect(asked.stdout).toBe('copy@b: 1 state will be made again; next: sluice run p.yaml\n');
    const { states_run, states } = await p.run();
    expect(states_run).toBe(1);
    expect(states).toMatchObject([{ entity: 'b', reasons: [expect.stringContaining('invalidated')] }]);
  });

  test('state_read, state_write and state_list read, write and list states', async () => {
    const node = (id: string, pattern: string, typeId: string, data: object) => ({
      ...{ id, type: 'transform', input: 'topic', pattern, node: { typeId, data } },
    });
    const p = project({
      'p.yaml': pipeline([
        TOPIC,
        node('read', 'read/{slug}.txt', 'state_read', { path: '{{$.topic.path}}' }),
        node('write', 'written/{slug}.txt', 'state_write', {
          content: 'about {{entity.slug}}: {{$.topic.content}}',
        }),
        node('list', 'lists/{slug}.json', 'state_list', { pattern: 'output/topics/{other}.txt' }),
      ]),
      'output/topics/a.txt': 'A',
      'output/topics/b.txt': 'B',
    });
    expect(await p.run()).toMatchObject({ code: 0, states_run: 6 });
    expect(p.read('output/read/a.txt')).toBe('A');
    expect(p.read('output/written/b.txt')).toBe('about b: B');
    expect(JSON.parse(p.read('output/lists/a.json'))).toMatchObject([{ id: 'a' }, { id: 'b' }]);
  });
});

describe('asking again', () => {
  test.each([
    ['an unknown stage', ['retry', 'p.yaml', 'cpoy'], "there is no stage 'cpoy'"],
    ['an unknown entity', ['invalidate', 'p.yaml', 'copy@zzz'], 'zzz'],
    ['no stage', ['invalidate', 'p.yaml'], 'invalidate needs STAGE'],
    ['a missing file', ['retry', 'gone.yaml'], 'gone.yaml does not exist'],
    ['a name that nobody knows', ['retry', 'nobody'], 'nothing is known here yet'],
    ['nobody at the URL', ['retry', 'p', '--api', 'http://127.0.0.1:1'], 'no answer from http://127.0.0.1:1'],
  ])('for %s is refused with the fact and the next step', async (_, args, said) => {
    const p = project({ 'p.yaml': COPIES({}), 'output/topics/a.txt': 'A' });
    mkdirSync(join(p.root, '.git'));
    const { code, stdout, stderr } = await p.sluice(...args);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(said);
    expect(stderr).toContain('→');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('with a token that may only read is refused with the scope it takes', LIMIT, async () => {
    const { rig, up } = await publishing();
    const made = await rig.sluice('token', 'create', 'reader');
    rig.write('reader.token', made.stdout);
    const asked = await rig.sluice('retry', 'writer', '--api', up.url, '--token-file', 'reader.token');
    expect(asked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/admin/) });
  });
});
