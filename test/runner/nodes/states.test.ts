import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeRig } from './node-rig.ts';

const HOSTILE = [
  '$(touch pwned).txt',
  '-rf',
  'a\nb.txt',
  '\nc.txt',
  'a b;c.txt',
  '\'".txt',
  '[x]*?{y}.txt',
  '🦊.txt',
  'back\\slash.txt',
];

test.each(HOSTILE)('state_read reads a file called %j', async (name) => {
  const rig = nodeRig({ [`in/${name}`]: `content of ${name}` });
  const scope = { stages: { x: { path: `in/${name}` } }, entity: { name } };
  for (const path of ['{{$.x.path}}', 'in/{name}', 'in/{{entity.name}}']) {
    expect(await rig.run('state_read', { path }, { scope })).toEqual({ kind: 'made' });
    expect(rig.made()).toBe(`content of ${name}`);
  }
});

test.each(['../secret.txt', 'a/../../secret.txt', '/etc/passwd', '', 'a\0b'])(
  'a value that is no path of its own cannot lead out of the directory: %j',
  async (value) => {
    const rig = nodeRig();
    writeFileSync(join(rig.root, '../secret.txt'), 'secret');
    for (const path of ['{{params.x}}', './{{params.x}}', 'in/.{{params.x}}']) {
      const result = await rig.run('state_read', { path }, { scope: { params: { x: value } } });
      expect(result).toMatchObject({ kind: 'failed', transient: false });
    }
    expect(rig.made()).toBeNull();
  },
);

test('a path that the workflow itself gives may lead out of the directory', async () => {
  const rig = nodeRig();
  writeFileSync(join(rig.root, '../model.txt'), 'm');
  const scope = { deps: ['../model.txt'] };
  for (const path of ['../model.txt', '{{deps[0].path}}']) {
    expect(await rig.run('state_read', { path }, { scope })).toEqual({ kind: 'made' });
  }
});

test('state_list lists the entities of a pattern by code point', async () => {
  const names = [
    'b.json',
    'a.json',
    'ä.json',
    '\uffee.json',
    '🦊.json',
    'A.json',
    '-rf.json',
    'x\ny.json',
    '$(id).json',
  ];
  const rig = nodeRig(Object.fromEntries(names.map((name) => [`feeds/hn/${name}`, '{}'])));
  for (const ignored of ['.hidden.json', '.sluice-t9.a.json', 'b.json.tmp', 'b.txt'])
    rig.write(`feeds/hn/${ignored}`, '');
  rig.write('feeds/lwn/a.json', '{}');
  mkdirSync(join(rig.root, 'feeds/empty'));
  expect(await rig.run('state_list', { pattern: 'feeds/{feed}/{guid}.json' })).toEqual({ kind: 'made' });
  const listed = rig.json() as { id: string; path: string; entity: object }[];
  const guids = ['$(id)', '-rf', 'A', 'a', 'b', 'x\ny', 'ä', '\uffee', '🦊'];
  expect(listed.map(({ id }) => id)).toEqual([...guids.map((guid) => `hn/${guid}`), 'lwn/a']);
  expect(listed.at(-1)).toEqual({
    id: 'lwn/a',
    path: 'feeds/lwn/a.json',
    entity: { feed: 'lwn', guid: 'a' },
  });
});

test("state_list keeps to the stage's own entity where the pattern names its variables", async () => {
  const rig = nodeRig({
    'f/a/1.json': '',
    'f/a/2.json': '',
    'f/b/3.json': '',
    'f/[x]*/4.json': '',
    'g/a-1-z': '',
    'g/b-1-z': '',
  });
  await rig.run('state_list', { pattern: 'f/{feed}/{guid}.json' }, { scope: { entity: { feed: 'a' } } });
  expect(rig.json()).toMatchObject([{ id: '1' }, { id: '2' }]);
  await rig.run('state_list', { pattern: 'f/{feed}/{guid}.json' }, { scope: { entity: { feed: '[x]*' } } });
  expect(rig.json()).toMatchObject([{ id: '4', path: 'f/[x]*/4.json' }]);
  await rig.run('state_list', { pattern: 'g/{feed}-{n}-z' }, { scope: { entity: { feed: 'b' } } });
  expect(rig.json()).toEqual([{ id: '1', path: 'g/b-1-z', entity: { n: '1' } }]);
});

test('state_list lists directories only where the pattern is one, and nothing where nothing is', async () => {
  const rig = nodeRig({ 'logs/2026-01-15/a.txt': '', 'logs/readme': '' });
  await rig.run('state_list', { pattern: 'logs/{date}/' });
  expect(rig.json()).toEqual([{ id: '2026-01-15', path: 'logs/2026-01-15', entity: { date: '2026-01-15' } }]);
  await rig.run('state_list', { pattern: 'nowhere/{x}' });
  expect(rig.json()).toEqual([]);
});

test('a name that is not UTF-8 is told, not left out', async () => {
  const rig = nodeRig({ 'in/a': '' });
  writeFileSync(Buffer.concat([Buffer.from(`${rig.root}/in/`), Buffer.from([0xff, 0x41])]), '');
  expect(await rig.run('state_list', { pattern: 'in/{x}' })).toMatchObject({
    error: "cannot use '\\xffA': its name is not UTF-8: rename it",
  });
});

test('a pattern that is none is refused with the remedy', async () => {
  const rig = nodeRig();
  const run = (pattern: string) => rig.run('state_list', { pattern });
  expect(await run('in/*.txt')).toMatchObject({ error: expect.stringContaining('name what varies') });
  expect(await run('../{x}')).toMatchObject({
    error: expect.stringContaining("leaves the workflow's directory"),
  });
  expect(await run('in/{{params.x}}/{y}')).toMatchObject({
    error: expect.stringContaining('{variables} only'),
  });
});

test('a circle of links does not keep a listing from ending', async () => {
  const rig = nodeRig({ 'in/a.txt': 'A' });
  symlinkSync('.', join(rig.root, 'in/self'));
  const result = await rig.run('agent', {
    prompt: 'p',
    input_files: ['in/**/*.txt'],
    command: 'grep -c -- ---',
  });
  expect(result).toEqual({ kind: 'made' });
  expect(rig.made()).toBe('1\n');
});
