import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takesOut } from '../../../runner/nodes/command.ts';
import { openPipe } from '../command-rig.ts';
import { namesIn, nodeRig } from './node-rig.ts';

test('an agent reads the prompt and the files in order, and what it prints is the out', async () => {
  const rig = nodeRig({
    'logs/b.txt': 'second',
    'logs/a.txt': 'first\n',
    'logs/c.md': 'no',
    'logs/empty.txt': '',
  });
  const scope = { stages: { logs: { path: 'logs/' } }, params: { tone: 'dry' } };
  const data = {
    prompt: 'Be {{params.tone}}.',
    input_files: ['{{$.logs.path}}/*.txt'],
    command: 'cat; echo end',
  };
  expect(await rig.run('agent', data, { scope })).toEqual({ kind: 'made' });
  expect(rig.made()).toBe(
    'Be dry.\n\n--- logs/a.txt (6 bytes) ---\nfirst\n\n--- logs/b.txt (6 bytes) ---\nsecond\n\n--- logs/empty.txt (0 bytes) ---\nend\n',
  );
});

test("without input_files an agent is given the stage's own deps", async () => {
  const rig = nodeRig({ 's/a.txt': 'A', 'd/x/2.txt': 'two', 'd/1.txt': 'one', 'd/.git/HEAD': 'no' });
  const data = { prompt: 'p', command: ['grep', '-e', '---'] };
  await rig.run('agent', data, { scope: { deps: ['s/a.txt', 'd/', ['s/a.txt']] } });
  expect(rig.made()).toBe(
    '--- s/a.txt (1 bytes) ---\n--- d/1.txt (3 bytes) ---\n--- d/x/2.txt (3 bytes) ---\n',
  );
  await rig.run('agent', { ...data, command: 'cat', input_files: [] }, { scope: { deps: ['s/a.txt'] } });
  expect(rig.made()).toBe('p\n');
  expect(await rig.run('agent', data, { scope: { deps: ['gone'] } })).toMatchObject({
    error: "there is no file at 'gone'",
  });
});

test('names of files are names, whatever they say', async () => {
  const names = [
    '$(touch pwned).txt',
    '-rf',
    'a\n--- b.txt (9 bytes) ---',
    '\nc',
    '[x]*?{y}',
    '\'"',
    'back\\slash',
    '🦊',
  ];
  const rig = nodeRig(Object.fromEntries(names.map((name) => [`in/${name}`, 'x'])));
  await rig.run('agent', { prompt: 'p', input_files: ['in/*'], command: 'grep -c -e "^---"' });
  expect(rig.made()).toBe(`${names.length}\n`);
  for (const name of names) {
    const scope = { entity: { name }, stages: { x: { path: `in/${name}` } } };
    for (const glob of ['in/{name}', '{{$.x.path}}', 'in/{name}*']) {
      const data = { prompt: 'p', input_files: [glob], command: ['grep', '-c', '-e', '^---'] };
      expect([name, glob, await rig.run('agent', data, { scope })]).toEqual([name, glob, { kind: 'made' }]);
      expect([name, glob, rig.made()]).toEqual([name, glob, '1\n']);
    }
    const data = { prompt: 'p', input_files: [], command: 'cd in && printf %s {{entity.name}}' };
    await rig.run('agent', data, { scope });
    expect(rig.made()).toBe(name);
  }
  expect(namesIn(rig.root)).toEqual(['.sluice-t1.out', 'in']);
});

test('a path as the argument of a program does not become an option', async () => {
  const rig = nodeRig({ '-rf': 'x' });
  const data = { prompt: 'p', input_files: [], command: ['printf', '%s', '{{deps[0].path}}'] };
  await rig.run('agent', data, { scope: { deps: ['-rf'] } });
  expect(rig.made()).toBe('./-rf');
});

test.each([
  ['in/*.md', "no file matches 'in/*.md'"],
  ['in/{name}/*.txt', "no file matches 'in/[x]/*.txt'"],
  ['{{params.up}}/*', "'../*' is no path"],
])('a glob without a match is a failure that names it: %s', async (glob, error) => {
  const rig = nodeRig({ 'in/x/a.txt': '' });
  const scope = { entity: { name: '[x]' }, params: { up: '..' } };
  const result = await rig.run('agent', { prompt: 'p', input_files: [glob], command: 'cat' }, { scope });
  expect(result).toMatchObject({ kind: 'failed', error: expect.stringContaining(error), transient: false });
});

test("the runner's agent command is taken where the node has none", async () => {
  const rig = nodeRig();
  const data = { prompt: 'p {{params.x}}', input_files: [] };
  const scope = { params: { x: 'q' } };
  await rig.run('claude_agent', data, {
    scope,
    context: { agentCommand: 'printf "<%s>" "$(cat)"; echo "{{x}}"' },
  });
  expect(rig.made()).toBe('<p q>{{x}}\n');
  await rig.run('claude_agent', data, { scope, context: { agentCommand: ['sed', 's/p/{{p}}/'] } });
  expect(rig.made()).toBe('{{p}} q\n');
  expect(await rig.run('agent', data, { scope })).toMatchObject({
    error: expect.stringMatching(/^no agent is configured: set SLUICE_AGENT to .* or write 'command'/),
  });
});

test('an agent that fails tells its exit code and its last words', async () => {
  const run = (command: string) => nodeRig().run('agent', { prompt: 'p', input_files: [], command });
  expect(await run('echo half; echo sorry >&2; exit 3')).toEqual({
    kind: 'failed',
    error: 'exit code 3\nsorry',
    transient: false,
    outcome: { kind: 'exit', code: 3 },
  });
  expect(await run('exit 75')).toMatchObject({ transient: true });
  expect(await run('kill -KILL $$')).toMatchObject({
    transient: true,
    outcome: { kind: 'signal', signal: 'SIGKILL' },
  });
  expect(await run('true')).toMatchObject({
    error: 'the agent ended well but answered nothing',
    transient: true,
  });
  const program = { prompt: 'p', input_files: [], command: ['no-such-agent'] };
  expect(await nodeRig().run('agent', program)).toMatchObject({
    error: "could not start: no program 'no-such-agent' in PATH",
  });
});

test('an agent that takes too long or is not wanted any more is ended', async () => {
  const data = { prompt: 'p', input_files: [], command: 'echo begun > begun; sleep 60' };
  expect(await nodeRig().run('agent', data, { context: { timeoutMs: 100 } })).toMatchObject({
    kind: 'failed',
    outcome: { kind: 'timeout' },
  });
  const stop = new AbortController();
  const rig = nodeRig();
  const begun = openPipe(join(rig.root, 'begun'));
  const running = rig.run('agent', data, { context: { signal: stop.signal } });
  await begun.line();
  stop.abort();
  expect(await running).toEqual({ kind: 'cancelled' });
});

test('neither what an agent is given nor what it answers passes the cap', async () => {
  const rig = nodeRig({ 'in/a': '123456', 'in/b': '123456' });
  const limits = { answerBytes: 5, inputBytes: 10 };
  const run = (data: object) => rig.run('agent', { prompt: 'p', ...data } as never, { context: { limits } });
  expect(await run({ input_files: ['in/*'], command: 'cat' })).toMatchObject({
    error: "the agent's files have more than 10 bytes together; give it fewer",
  });
  expect(await run({ input_files: [], command: 'echo 123456' })).toMatchObject({
    error: "cannot read 'the answer on stdout': it has 7 bytes, more than the limit of 5",
  });
  expect(rig.made()).toBeNull();
});

test('a file that is a link is read', async () => {
  const rig = nodeRig({ 'real.txt': 'R' });
  symlinkSync('real.txt', join(rig.root, 'link.md'));
  await rig.run('agent', { prompt: 'p', input_files: ['*.md'], command: 'tail -n 1' });
  expect(rig.made()).toBe('R\n');
});

test('a command under then makes the out, with every value quoted', async () => {
  const rig = nodeRig();
  const scope = {
    entity: { name: '$(touch pwned)' },
    outs: ['.sluice-t1.out'],
    names: { output: '.sluice-t1.out' },
  };
  const whenTrue = {
    typeId: 'command',
    data: { cmd: 'echo {name} "$X" > {{output}}', env: { X: '{name};' } },
  };
  expect(await rig.run('if', { condition: '{{1 == 1}}' }, { scope, whenTrue })).toEqual({ kind: 'made' });
  expect(rig.made()).toBe('$(touch pwned) $(touch pwned);\n');
  expect(namesIn(rig.root)).toEqual(['.sluice-t1.out']);
  expect(await rig.run('command', { cmd: 'exit 4' })).toMatchObject({ outcome: { kind: 'exit', code: 4 } });
});

test('only a command that knows the path of its out by itself writes it in place', () => {
  const command = (cmd: string) => ({ typeId: 'command', data: { cmd } });
  const condition = { typeId: 'if', data: { condition: '{{true}}' } };
  expect(takesOut(command('echo > {{output}}'), null)).toBe(true);
  expect(takesOut(command('echo > {{outs[0].path}}'), null)).toBe(true);
  expect(takesOut(command('echo > out.txt'), null)).toBe(false);
  expect(takesOut(condition, command('echo > out.txt'))).toBe(false);
  expect(takesOut(condition, { typeId: 'set', data: { values: 1 } })).toBe(true);
});
