import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { project } from '../rig/project.ts';
import { startUp, until } from '../rig/up.ts';

const COPY = `
watch: {settle: 50ms}
stages:
  copy_{name}:
    cmd: echo copy >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["out/{name}.txt"]
`;
const SHOUT = `
watch: {settle: 50ms}
stages:
  shout_{name}:
    cmd: echo shout >> runs.log; tr a-z A-Z < {{deps[0].path}} > {{outs[0].path}}
    deps: ["out/{name}.txt"]
    outs: ["loud/{name}.txt"]
`;

function copying(files: Readonly<Record<string, string>> = {}) {
  return project({ 'p.yaml': COPY, 'in/first.txt': 'one\n', ...files });
}

const LIMIT = { timeout: 30_000 };

test('a dropped file is worked on, and the same content again is not', LIMIT, async () => {
  const rig = copying();
  const up = await startUp(rig.root);
  await until(() => rig.has('out/first.txt'));
  rig.write('in/second.txt', 'two\n');
  await until(() => rig.has('out/second.txt'));
  rig.write('in/second.txt', 'two\n');
  rig.write('in/third.txt', 'three\n');
  await until(() => rig.has('out/third.txt'));
  expect(rig.runs('copy')).toBe(3);
  expect(await up.stop()).toBe(0);
  const { states_run, states_cached } = await rig.run();
  expect({ states_run, states_cached }).toEqual({ states_run: 0, states_cached: 3 });
});

test('what one workflow makes flows into the next, with nothing special said', LIMIT, async () => {
  const rig = copying({ 'q.yaml': SHOUT });
  await startUp(rig.root);
  rig.write('in/dropped.txt', 'quiet\n');
  await until(() => rig.has('loud/dropped.txt') && rig.has('loud/first.txt'));
  expect(rig.read('loud/dropped.txt')).toBe('QUIET\n');
  expect([rig.runs('copy'), rig.runs('shout')]).toEqual([2, 2]);
});

test('a workflow of the project that was not given is left alone', LIMIT, async () => {
  const rig = copying({ 'q.yaml': SHOUT, 'out/old.txt': 'old\n' });
  await rig.sluice('run', 'q.yaml');
  await startUp(rig.root, 'p.yaml');
  await until(() => rig.has('out/first.txt'));
  rig.write('in/second.txt', 'two\n');
  await until(() => rig.has('out/second.txt'));
  expect([rig.runs('copy'), rig.runs('shout')]).toEqual([2, 1]);
});

const SAVES: readonly [string, (path: string) => void][] = [
  ['written in place', (path) => writeFileSync(path, 'final\n')],
  [
    'written beside and renamed',
    (path) => {
      writeFileSync(`${path}~`, 'final\n');
      renameSync(`${path}~`, path);
    },
  ],
  [
    'truncated and written bit by bit',
    (path) => {
      writeFileSync(path, '');
      for (const bit of ['fi', 'nal', '\n']) appendFileSync(path, bit);
    },
  ],
];

test.each(SAVES)('a file that is %s causes one run, with the final content', LIMIT, async (_, save) => {
  const rig = copying();
  await startUp(rig.root);
  await until(() => rig.has('out/first.txt'));
  save(join(rig.root, 'in/first.txt'));
  await until(() => rig.read('out/first.txt') === 'final\n');
  rig.write('in/last.txt', 'last\n');
  await until(() => rig.has('out/last.txt'));
  expect(rig.runs('copy')).toBe(3);
});

test(
  'an edited workflow file is followed, and an invalid edit is told while the last good one stays',
  LIMIT,
  async () => {
    const rig = copying();
    const up = await startUp(rig.root);
    await until(() => rig.has('out/first.txt'));
    rig.write('p.yaml', 'stages: {copy: {cmdd: x}}\n');
    await until(() => up.stderr().includes('is not followed as it is'));
    rig.write('in/second.txt', 'two\n');
    await until(() => rig.has('out/second.txt'));
    rig.write('p.yaml', COPY.replace('cat {{deps', 'tr a-z A-Z < {{deps'));
    await until(() => rig.read('out/first.txt') === 'ONE\n' && rig.read('out/second.txt') === 'TWO\n');
    expect(up.stderr()).toContain('p.yaml was edited and is followed from now on');
  },
);

test('a folder that appears, moves and goes is followed', LIMIT, async () => {
  const rig = project({
    'p.yaml': COPY.replaceAll('{name}.txt', '{group}/{name}.txt').replace(
      'copy_{name}',
      'copy_{group}_{name}',
    ),
    'in/a/x.txt': 'x\n',
  });
  await startUp(rig.root);
  await until(() => rig.has('out/a/x.txt'));
  mkdirSync(join(rig.root, 'in/b/'));
  rig.write('in/b/y.txt', 'y\n');
  await until(() => rig.has('out/b/y.txt'));
  renameSync(join(rig.root, 'in/b'), join(rig.root, 'in/c'));
  await until(() => rig.has('out/c/y.txt'));
  rig.write('in/c/z.txt', 'z\n');
  await until(() => rig.has('out/c/z.txt'));
  rmSync(join(rig.root, 'in/c'), { recursive: true });
  rig.write('in/a/last.txt', 'last\n');
  await until(() => rig.has('out/a/last.txt'));
});

test('several hundred files at once are each made once', LIMIT, async () => {
  const rig = copying();
  await startUp(rig.root);
  await until(() => rig.has('out/first.txt'));
  const names = Array.from({ length: 300 }, (_, i) => `n${i}`);
  for (const name of names) rig.write(`in/${name}.txt`, name);
  await until(() => names.every((name) => rig.has(`out/${name}.txt`)));
  expect(rig.runs('copy')).toBe(301);
});

test(
  'a lock file that comes with its outputs while it runs, as by git pull, is believed',
  LIMIT,
  async () => {
    const other = copying({ 'in/second.txt': 'two\n' });
    await other.run();
    // Long enough for the lock file to be read before the files are taken, as `settle` usually is.
    const rig = copying({ 'p.yaml': COPY.replace('50ms', '1s') });
    const up = await startUp(rig.root);
    await until(() => rig.has('out/first.txt'));
    rig.write('out/second.txt', 'two\n');
    rig.write('in/second.txt', 'two\n');
    rig.write('p.lock.yaml', other.read('p.lock.yaml'));
    await until(() => up.recordsOf('p').then((records) => records.some(({ entity }) => entity === 'second')));
    rig.write('in/third.txt', 'three\n');
    await until(() => rig.has('out/third.txt'));
    expect(await up.stop()).toBe(0);
    expect(rig.runs('copy')).toBe(2);
    expect(rig.read('p.lock.yaml')).toContain('second');
    expect((await rig.run()).states_run).toBe(0);
  },
);

test(
  'a lock file with a conflict in it is left alone until it is mended, and then has it all',
  LIMIT,
  async () => {
    const rig = copying();
    const up = await startUp(rig.root);
    await until(() => rig.has('p.lock.yaml') && rig.read('p.lock.yaml').includes('first'));
    const whole = rig.read('p.lock.yaml');
    const damaged = `${whole}\n<<<<<<< HEAD\n`;
    rig.write('p.lock.yaml', damaged);
    await until(() => up.stderr().includes('it is not written until that is mended'));
    rig.write('in/second.txt', 'two\n');
    await until(() => rig.has('out/second.txt'));
    rig.write('in/third.txt', 'three\n');
    await until(() => rig.has('out/third.txt'));
    expect(rig.read('p.lock.yaml')).toBe(damaged);
    rig.write('p.lock.yaml', whole);
    rig.write('in/fourth.txt', 'four\n');
    const all = ['first', 'second', 'third', 'fourth'];
    await until(() => all.every((name) => rig.read('p.lock.yaml').includes(name)));
    expect(up.stderr().match(/until that is mended/g)).toHaveLength(1);
  },
);

test('a clone with lock file and outputs is settled as it stands', LIMIT, async () => {
  const other = copying();
  await other.run();
  const files = { 'p.lock.yaml': other.read('p.lock.yaml'), 'out/first.txt': other.read('out/first.txt') };
  const rig = copying(files);
  await startUp(rig.root);
  rig.write('in/second.txt', 'two\n');
  await until(() => rig.has('out/second.txt'));
  expect(rig.runs('copy')).toBe(1);
});

test('with a sentinel a file is taken when the one beside it is there, and at once', LIMIT, async () => {
  const sentinel = COPY.replace('settle: 50ms', 'settle: 20s, sentinel: "{x}.done"');
  const rig = project({ 'p.yaml': sentinel, 'in/first.txt': 'one\n', 'in/first.txt.done': '' });
  const up = await startUp(rig.root);
  await until(() => rig.has('out/first.txt'));
  rig.write('in/half.txt', 'half');
  rig.write('in/second.txt', 'two\n');
  rig.write('in/second.txt.done', '');
  await until(() => rig.has('out/second.txt'));
  expect(rig.has('out/half.txt')).toBe(false);
  rig.write('in/half.txt', 'whole\n');
  rig.write('in/half.txt.done', '');
  await until(() => rig.has('out/half.txt'));
  expect(rig.read('out/half.txt')).toBe('whole\n');
  expect(up.stderr()).not.toContain('warning');
});

test('a file that was renamed into place is not waited for', LIMIT, async () => {
  const rig = project({ 'p.yaml': COPY.replace('50ms', '10m'), 'aside.txt': 'whole\n', 'in/.keep': '' });
  await startUp(rig.root);
  renameSync(join(rig.root, 'aside.txt'), join(rig.root, 'in/moved.txt'));
  await until(() => rig.has('out/moved.txt'));
});

test('killed in the middle and started again, it finishes what was left', LIMIT, async () => {
  const names = Array.from({ length: 120 }, (_, i) => `n${i}`);
  const rig = copying(Object.fromEntries(names.map((name) => [`in/${name}.txt`, name])));
  const up = await startUp(rig.root);
  await until(() => rig.runs('copy') > 60);
  await up.stop('SIGKILL');
  await startUp(rig.root);
  await until(() => names.every((name) => rig.has(`out/${name}.txt`)));
  // Only what ran when it was killed, or had just been made and was not told yet, may be made twice.
  expect(rig.runs('copy')).toBeLessThanOrEqual(121 + 20);
});

test('a second one says who is there already', LIMIT, async () => {
  const rig = copying();
  const up = await startUp(rig.root);
  const second = await rig.sluice('up', '--port', '0');
  expect(second.code).toBe(4);
  expect(second.stderr).toContain(up.url);
});

test.each([
  ['nothing there', ['missing'], 'missing does not exist'],
  ['a folder without a workflow', ['in'], 'no workflow that can be kept in in'],
  ['a job', ['job.yaml'], 'is a job'],
  ['an invalid file', ['bad.yaml'], 'bad.yaml is not a valid workflow'],
])('%s is refused with the fact and the next step', LIMIT, async (_, args, said) => {
  const rig = copying({ 'bad.yaml': 'stages: {a: {cmdd: x}}\n', 'job.yaml': JOB });
  const { code, stderr } = await rig.sluice('up', ...args);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(said);
  expect(stderr).toContain('→');
  expect(rig.has('.sluice')).toBe(false);
});

const JOB = `
name: nightly
schedule: "0 0 2 * * *"
tasks:
  a: {type: command, program: "true"}
`;
