import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodeRig } from './node-rig.ts';

const item = { stages: { item: { path: 'items/a.json' } } };
const file = (content: string) => ({ 'items/a.json': content });

test('set writes its values as JSON, typed where a text is one placeholder', async () => {
  const rig = nodeRig(file('{"score": 9, "tags": ["x"], "__proto__": 1}'));
  const values = {
    score: '{{$.item.content.score}}',
    all: '{{$.item.content}}',
    text: 's={{$.item.content.score}}',
    n: null,
  };
  expect(await rig.run('set', { values }, { scope: item })).toEqual({ kind: 'made' });
  expect(rig.made()).toBe(
    `${JSON.stringify({ score: 9, all: JSON.parse('{"score": 9, "tags": ["x"], "__proto__": 1}'), text: 's=9', n: null }, null, 2)}\n`,
  );
});

test('transform gives the value of an expression, or a map of them', async () => {
  const rig = nodeRig(file('{"score": 9, "link": "http://x"}'));
  await rig.run(
    'transform',
    { expression: '{{$.item.content.score >= 8 && entity.feed == "hn"}}' },
    {
      scope: { ...item, entity: { feed: 'hn' } },
    },
  );
  expect(rig.json()).toBe(true);
  const map = { url: '{{$.item.content.link}}', name: '{feed}-{{$.item.content.score}}' };
  await rig.run('transform', { map }, { scope: { ...item, entity: { feed: 'hn' } } });
  expect(rig.json()).toEqual({ url: 'http://x', name: 'hn-9' });
});

test.each([
  [
    "'$.item.content.nope' has no value: there is no 'nope'; known: score",
    '{{$.item.content.nope}}',
    '{"score": 1}',
  ],
  ["'items/a.json' is not JSON: ", '{{$.item.content.score}}', 'not json'],
  [
    "unexpected '.constructor('x')' ",
    "{{$.item.content.score | raw}}{{'a'.constructor('x')}}",
    '{"score": 1}',
  ],
])('what cannot be read is a failure that says why: %s', async (error, expression, content) => {
  const rig = nodeRig(file(content));
  const result = await rig.run('transform', { expression }, { scope: item });
  expect(result).toMatchObject({ kind: 'failed', transient: false });
  expect(result).toHaveProperty('error', expect.stringContaining(error.slice(0, 20)));
  expect(rig.made()).toBeNull();
});

test('a stage that made no file, a directory or several files has no content', async () => {
  const rig = nodeRig();
  mkdirSync(`${rig.root}/dir`);
  const run = (path: string | readonly string[]) =>
    rig.run('set', { values: '{{$.x.content}}' }, { scope: { stages: { x: { path } } } });
  expect(await run('gone.txt')).toMatchObject({ error: "cannot read 'gone.txt': there is no such file" });
  expect(await run('dir')).toMatchObject({ error: "cannot read 'dir': it is a directory" });
  expect(await run(['a', 'b'])).toMatchObject({
    error: expect.stringContaining('here the stage gives several'),
  });
});

test('a file larger than the cap is not read', async () => {
  const rig = nodeRig({ 'a.txt': '12345' });
  const limits = { answerBytes: 9, inputBytes: 4 };
  const result = await rig.run('state_read', { path: 'a.txt' }, { context: { limits } });
  expect(result).toMatchObject({ error: "cannot read 'a.txt': it has 5 bytes, more than the limit of 4" });
});

test('content is the text of a file, and JSON as soon as a field is asked for', async () => {
  const rig = nodeRig({ 'a.txt': '{"n": 1}' });
  const scope = { stages: { x: { path: 'a.txt' } } };
  await rig.run('set', { values: ['{{$.x.content}}', '{{$.x.content.n}}'] }, { scope });
  expect(rig.json()).toEqual(['{"n": 1}', 1]);
});

test('an integer that a number cannot hold keeps its digits', async () => {
  const rig = nodeRig(
    file('{"id": 1234567890123456789, "s": "\\"9999999999999999999", "f": 0.1234567890123456, "n": -3}'),
  );
  await rig.run('set', { values: '{{$.item.content}}' }, { scope: item });
  expect(rig.json()).toEqual({
    id: '1234567890123456789',
    s: '"9999999999999999999',
    f: 0.1234567890123456,
    n: -3,
  });
});

test('if runs what stands under then, or is skipped with the condition as the reason', async () => {
  const rig = nodeRig(file('{"score": 7}'));
  const whenTrue = { typeId: 'set', data: { values: 'yes' } };
  const run = (condition: string) => rig.run('if', { condition }, { scope: item, whenTrue });
  expect(await run('{{$.item.content.score >= 8}}')).toEqual({
    kind: 'skipped',
    because: '{{$.item.content.score >= 8}} is false',
  });
  expect(rig.made()).toBeNull();
  expect(await run('{{$.item.content.score >= 7}}')).toEqual({ kind: 'made' });
  expect(rig.json()).toBe('yes');
  expect(await run('{{$.item.content.score}}')).toMatchObject({
    error: expect.stringContaining('neither true nor false'),
  });
});

test('state_write writes a text as it is and anything else as JSON', async () => {
  const rig = nodeRig();
  const scope = { params: { x: '"a"' } };
  await rig.run('state_write', { content: 'say {{params.x}}' }, { scope });
  expect(rig.made()).toBe('say "a"');
  await rig.run('state_write', { content: { say: '{{params.x}}' } }, { scope });
  expect(rig.json()).toEqual({ say: '"a"' });
});

test('a node whose stage makes a directory says so', async () => {
  const rig = nodeRig();
  const result = await rig.run('set', { values: 1 }, { context: { out: `${rig.root}/made/` } });
  expect(result).toMatchObject({ error: expect.stringContaining('is a directory; drop the /') });
});

test('an out that cannot be written is a failure', async () => {
  const rig = nodeRig();
  const result = await rig.run('set', { values: 1 }, { context: { out: `${rig.root}/no/such/dir` } });
  expect(result).toMatchObject({ kind: 'failed', error: expect.stringContaining('ENOENT') });
});
