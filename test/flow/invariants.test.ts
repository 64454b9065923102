// The idempotency invariants of a playbook (§4.6.4), each by its number, on the real program and real files.

import { expect, test } from 'vitest';
import { project } from '../rig/project.ts';

const PLAYBOOK = `
params: {p: 1, q: 1}
stages:
  a: {cmd: "echo a >> runs.log; cat in > {{outs[0].path}}; echo {{params.p}} >> {{outs[0].path}}", deps: [in], outs: [a.txt]}
  b: {cmd: "echo b >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: [a.txt], outs: [b.txt]}
  c: {cmd: "echo c >> runs.log; echo {{params.q}} > {{outs[0].path}}", outs: [c.txt]}
  d: {cmd: "echo d >> runs.log; cat b.txt c.txt > {{outs[0].path}}", deps: [b.txt, c.txt], outs: [d.txt]}
`;

const runsOf = (p: ReturnType<typeof project>) => ['a', 'b', 'c', 'd'].map((name) => p.runs(name));

async function made() {
  const p = project({ 'p.yaml': PLAYBOOK, in: 'x\n' });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 4 });
  return p;
}

test('I1: running a fully cached playbook executes zero commands, as often as one likes', async () => {
  const p = await made();
  for (let i = 0; i < 3; i++) expect(await p.run()).toMatchObject({ states_run: 0, states_cached: 4 });
  expect(runsOf(p)).toEqual([1, 1, 1, 1]);
});

test('I2: a partial parallel failure resumes from the last incomplete file', async () => {
  const p = project({
    'p.yaml': `
policy: {failure: continue_on_failure}
stages:
  up:
    cmd: |
      echo {{input_stem}} >> {{root}}/runs.log
      grep -v bad {{input}} > {{output}}
    deps: [{path: in/}]
    outs: [{path: out/}]
    parallel: {strategy: per_file}
`,
    'in/a': 'good\n',
    'in/b': 'bad\n',
    'in/c': 'good\n',
  });
  expect(await p.run()).toMatchObject({ code: 1 });
  p.write('in/b', 'good\n');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 1, states_cached: 2 });
  expect(['a', 'b', 'c'].map((name) => p.runs(name))).toEqual([1, 2, 1]);
});

test('I3: changing a param invalidates the stages that refer to it and their downstream, nothing else', async () => {
  const p = await made();
  await p.run('--set', 'q=2');
  expect(runsOf(p)).toEqual([1, 1, 2, 2]);
  await p.run('--set', 'q=2', '--set', 'p=2');
  expect(runsOf(p)).toEqual([2, 2, 2, 3]);
});

test('I4: two concurrent runs end in the same state as one', async () => {
  const p = project({ 'p.yaml': PLAYBOOK, in: 'x\n' });
  const both = await Promise.all([p.run(), p.run(), p.run()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(runsOf(p)).toEqual([1, 1, 1, 1]);
  const alone = await made();
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) expect(p.read(name)).toBe(alone.read(name));
});

test('I5: --force on a stage re-runs it and all downstream, and nothing upstream', async () => {
  const p = await made();
  expect(await p.run('--stage', 'b', '--force')).toMatchObject({ code: 0, states_run: 2 });
  expect(runsOf(p)).toEqual([1, 2, 1, 2]);
});

test('I6: adding a new stage does not invalidate existing cached stages', async () => {
  const p = await made();
  p.write(
    'p.yaml',
    `${PLAYBOOK}  e: {cmd: "cat {{deps[0].path}} > {{outs[0].path}}", deps: [a.txt], outs: [e.txt]}\n`,
  );
  expect(await p.run()).toMatchObject({ states_run: 1, states_cached: 4 });
});
