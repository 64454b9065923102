// Why a state is as it is, down to the file that changed.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { explainState } from '../../../api/store/explain-state.ts';
import { type WhyAnswer, whyAnswer } from '../../../schema/read-answers.ts';
import { BLOG, type ReadRig, stage, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
});
afterEach(() => rig.stop());

async function why(of: string, at: string, entity = ''): Promise<WhyAnswer> {
  const query = new URLSearchParams({ stage: at, entity });
  return whyAnswer.parse(await rig.get(`/api/workflows/${of}/why?${query}`));
}

async function makeAll(name: string): Promise<void> {
  for (;;) {
    const items = await rig.claim();
    if (items.length === 0) return;
    for (const { stage: at, entity, ...item } of items) {
      const [from, to] =
        at === 'summary' ? ['logs/?.txt', 'summaries/?.txt'] : ['summaries/?.txt', 'blogs/?.md'];
      const read = from.replace('?', entity);
      const text = at === 'summary' ? name : `summary ${name}`;
      await rig.make(
        { stage: at, entity, ...item },
        { [read]: text },
        { [to.replace('?', entity)]: `${at} ${name}` },
      );
    }
  }
}

async function exhaust(entity: string): Promise<void> {
  for (const _ of [1, 2]) {
    const claimed = await rig.claim();
    await rig.fail(claimed.find((item) => item.entity === entity)!, 'no tokens left');
    rig.clock.ms += 100_000;
  }
}

test('a settled state has nothing to explain', async () => {
  await rig.register('blog', BLOG);
  await rig.see({ 'logs/a.txt': 'v1' });
  await makeAll('v1');
  expect(await why('blog', 'blog', 'a')).toMatchObject({
    ...{ workflow: 'blog', stage: 'blog', entity: 'a', status: 'fresh', word: 'fresh', cause: null },
    ...{ reasons: [], waits_for: [], upstream: [], blocked_by: [], after: [] },
  });
});

test('the tree ends at the file that changed', async () => {
  await rig.register('blog', BLOG);
  await rig.see({ 'logs/a.txt': 'v1' });
  await makeAll('v1');
  await rig.see({ 'summaries/a.txt': null });
  await rig.see({ 'logs/a.txt': 'v2' });
  const answer = await why('blog', 'blog', 'a');
  expect(answer).toMatchObject({ status: 'stale', word: 'waiting', cause: 'upstream' });
  expect(answer.upstream).toMatchObject([
    {
      ...{ stage: 'summary', entity: 'a', word: 'stale', cause: null, upstream: [] },
      reasons: expect.arrayContaining([
        expect.objectContaining({
          reason: 'dep-changed',
          path: 'logs/a.txt',
          sentence: expect.stringMatching(
            /^deps_hash changed: logs\/a\.txt \[blake3:\w{8} → blake3:\w{8}\]$/,
          ),
        }),
        expect.objectContaining({ reason: 'output-missing', path: 'summaries/a.txt' }),
      ]),
    },
  ]);
});

test('a settled state in between does not hide what is unsettled behind it', async () => {
  await rig.register('blog', BLOG);
  await rig.see({ 'logs/a.txt': 'v1' });
  await makeAll('v1');
  await rig.register(
    'more',
    JSON.stringify({
      ...{ mode: 'pipeline', stateRoot: '.' },
      stages: [
        { id: 'blog', type: 'source', pattern: 'blogs/{date}.md' },
        stage('post', 'blog', 'posts/{date}.html'),
      ],
    }),
  );
  await rig.see({ 'blogs/a.md': 'blog v1', 'logs/a.txt': 'v2' });
  const answer = await why('more', 'post', 'a');
  expect(answer).toMatchObject({ word: 'waiting', cause: 'upstream' });
  expect(answer.upstream).toMatchObject([{ workflow: 'blog', stage: 'summary', word: 'stale' }]);
});

test('what gave up upstream is named as what blocks a state, however far away', async () => {
  await rig.register('blog', BLOG);
  await rig.register(
    'more',
    JSON.stringify({
      ...{ mode: 'pipeline', stateRoot: '.' },
      stages: [
        { id: 'blog', type: 'source', pattern: 'blogs/{date}.md' },
        stage('post', 'blog', 'posts/{date}.html'),
      ],
    }),
  );
  await rig.see({ 'logs/a.txt': 'v1' });
  await exhaust('a');
  const culprit = { workflow: 'blog', stage: 'summary', entity: 'a' };
  const answer = await why('more', 'post', 'a');
  expect(answer).toMatchObject({ status: 'stale', word: 'blocked', cause: 'gave-up', blocked_by: [culprit] });
  expect(answer.upstream).toMatchObject([
    {
      ...{ stage: 'blog', word: 'blocked', blocked_by: [culprit] },
      upstream: [
        {
          ...{ ...culprit, word: 'exhausted', blocked_by: [] },
          reasons: expect.arrayContaining([
            expect.objectContaining({ sentence: 'last attempt failed (attempt 2): no tokens left' }),
          ]),
        },
      ],
    },
  ]);
});

test('a state that failed says when it is tried again', async () => {
  await rig.register('blog', BLOG);
  await rig.see({ 'logs/a.txt': 'v1' });
  const [a] = await rig.claim();
  await rig.fail(a!);
  expect(await why('blog', 'summary', 'a')).toMatchObject({
    ...{ word: 'failed', cause: 'retry', retry_at: '2026-01-15T10:01:00.000Z' },
  });
  expect(await why('blog', 'blog', 'a')).toMatchObject({
    word: 'waiting',
    cause: 'upstream',
    blocked_by: [],
  });
});

test('a file that is not there and that nobody makes is named', async () => {
  await rig.register(
    'm',
    `stages:
  train: {deps: [{path: "in/{x}.txt"}, {path: model.bin}], outs: [{path: "out/{x}.txt"}], cmd: t}
`,
  );
  await rig.see({ 'in/a.txt': 'a' });
  expect(await why('m', 'train', 'a')).toMatchObject({
    ...{ word: 'waiting', cause: 'missing', waits_for: ['model.bin'], upstream: [] },
  });
});

test('a stage that must be done first is named with how much of it is not', async () => {
  await rig.register(
    'm',
    `stages:
  one: {deps: [{path: "in/{x}.txt"}], outs: [{path: "out/{x}.txt"}], cmd: a}
  two: {deps: [{path: go.txt}], outs: [{path: two.txt}], cmd: b, after: [one]}
`,
  );
  await rig.see({ 'in/a.txt': 'a', 'in/b.txt': 'b', 'go.txt': 'g' });
  expect(await why('m', 'two')).toMatchObject({
    ...{ word: 'waiting', cause: 'after', after: [{ workflow: 'm', stage: 'one', unsettled: 2 }] },
  });
});

test('a state that two others wait for is told once, and counted where it is left out', async () => {
  await rig.register(
    'd',
    `stages:
  top: {deps: [{path: in.txt}], outs: [{path: top.txt}], cmd: a}
  left: {deps: [{path: top.txt}], outs: [{path: left.txt}], cmd: b}
  right: {deps: [{path: top.txt}], outs: [{path: right.txt}], cmd: c}
  end: {deps: [{path: left.txt}, {path: right.txt}], outs: [{path: end.txt}], cmd: d}
`,
  );
  await rig.see({ 'in.txt': 'x' });
  const { upstream } = await why('d', 'end');
  expect(upstream.map((each) => [each.stage, each.upstream.map((up) => up.stage), each.more])).toEqual([
    ['left', ['top'], undefined],
    ['right', [], 1],
  ]);
});

test('a tree that is too wide or too deep is cut, and says how much was left out', async () => {
  await rig.register(
    'wide',
    `stages:
  each: {deps: [{path: "in/{x}.txt"}], outs: [{path: "mid/{x}.txt"}], cmd: a}
  all: {deps: [{path: "mid/{x}.txt"}], outs: [{path: all.txt}], cmd: b}
`,
  );
  await rig.see(Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`in/${i}.txt`, `${i}`])));
  const wide = await why('wide', 'all');
  expect([wide.upstream.length, wide.more]).toEqual([499, 201]);

  const chain = Array.from(
    { length: 40 },
    (_, i) => `  s${i}: {deps: [{path: f${i}}], outs: [{path: f${i + 1}}], cmd: a}`,
  );
  await rig.register('deep', `stages:\n${chain.join('\n')}\n`);
  await rig.see({ f0: 'x' });
  let [node, depth] = [await why('deep', 's39'), 0];
  for (; node.upstream.length > 0; depth++) node = node.upstream[0]!;
  expect([depth, node.more]).toEqual([30, 1]);
});

test('a collection that goes on without what failed is not blocked by it', async () => {
  await rig.register(
    'c',
    `stages:
  each: {deps: [{path: "in/{x}.txt"}], outs: [{path: "mid/{x}.txt"}], cmd: a}
  all: {deps: [{path: "mid/{x}.txt"}], outs: [{path: all.txt}], cmd: b, collect: {on_failed: omit}}
`,
  );
  await rig.see({ 'in/a.txt': 'a', 'in/b.txt': 'b' });
  const items = await rig.claim();
  await rig.fail(items[0]!);
  expect(await why('c', 'each', 'a')).toMatchObject({ word: 'exhausted' });
  expect(await why('c', 'all')).toMatchObject({ word: 'waiting', blocked_by: [] });
  expect(await rig.get('/api/pipeline/c/status')).toMatchObject({ exhausted: 1, blocked: 0 });
});

test('a state that nobody knows has no why', async () => {
  await rig.register('blog', BLOG);
  expect(await explainState(rig.store, { workflow: 'blog', stage: 'blog', entity: 'x' })).toBeNull();
  expect(await explainState(rig.store, { workflow: 'x', stage: 'blog', entity: 'x' })).toBeNull();
});
