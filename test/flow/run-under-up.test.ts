import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { project } from '../rig/project.ts';
import { startUp, until } from '../rig/up.ts';

const LIMIT = { timeout: 30_000 };
/** Long enough that only a run can be why something is made at once. */
const COPY = `
watch: {settle: 10m}
params: {word: same}
stages:
  copy_{name}:
    cmd: echo copy >> runs.log; grep -v fail < {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["out/{name}.txt"]
`;

async function kept(files: Readonly<Record<string, string>> = {}) {
  const rig = project({ 'p.yaml': COPY, 'in/.keep': '', ...files });
  return { rig, up: await startUp(rig.root, 'p.yaml') };
}

test('a run is done by the one who keeps the project, and tells what was made', LIMIT, async () => {
  const { rig } = await kept();
  rig.write('in/a.txt', 'a\n');
  rig.write('in/b.txt', 'b\n');
  const first = await rig.run();
  expect(first).toMatchObject({ code: 0, status: 'completed', states_run: 2, states_cached: 0 });
  expect(first.states.map(({ entity, status }) => [entity, status])).toEqual([
    ['a', 'completed'],
    ['b', 'completed'],
  ]);
  expect(await rig.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 2 });
  expect(rig.runs('copy')).toBe(2);
  rig.write('in/b.txt', 'changed\n');
  const third = await rig.run();
  expect(third).toMatchObject({ code: 0, states_run: 1, states_cached: 1 });
  expect(third.states[0]!.reasons.join()).toContain('deps_hash changed: in/b.txt');
  expect(rig.read('out/b.txt')).toBe('changed\n');
});

test('under another owner --force makes everything again and --stage only what it names', LIMIT, async () => {
  const other = `${COPY}  other: {cmd: "echo other >> runs.log; echo x > {{outs[0].path}}", outs: [other.txt]}\n`;
  const { rig } = await kept({ 'p.yaml': other });
  rig.write('in/a.txt', 'a\n');
  await rig.run();
  expect([rig.runs('copy'), rig.runs('other')]).toEqual([1, 1]);
  expect(await rig.run('--stage', 'other', '--force')).toMatchObject({ code: 0, states_run: 1 });
  expect([rig.runs('copy'), rig.runs('other')]).toEqual([1, 2]);
  expect(await rig.run('--force')).toMatchObject({ code: 0, states_run: 2 });
});

test('what fails under another owner is shown with its command and its last words', LIMIT, async () => {
  const { rig } = await kept();
  rig.write('in/a.txt', 'fail\n');
  rig.write('in/b.txt', 'b\n');
  const { code, stdout, stderr } = await rig.sluice('run', 'p.yaml');
  expect(code).toBe(1);
  expect(stderr).toMatch(/✗ copy_a[\s\S]*command:[\s\S]*grep -v fail[\s\S]*sluice debug p.yaml --stage/);
  expect(stdout).toContain('1 run, 0 cached, 1 failed');
});

test('what was removed just before the run is made again, or not made from', LIMIT, async () => {
  const { rig } = await kept({ 'in/a.txt': 'a\n', 'in/b.txt': 'b\n' });
  await rig.run();
  rmSync(`${rig.root}/in/b.txt`);
  rmSync(`${rig.root}/out/a.txt`);
  expect(await rig.run()).toMatchObject({ code: 0, states_run: 1 });
  expect([rig.has('out/a.txt'), rig.runs('copy')]).toEqual([true, 3]);
});

test('what another owner cannot do for a run is refused with what to do', LIMIT, async () => {
  const { rig, up } = await kept({ 'q.yaml': COPY.replaceAll('out/', 'other/') });
  const set = await rig.sluice('run', 'p.yaml', '--set', 'word=b');
  expect([set.code, set.stderr]).toEqual([4, expect.stringMatching(/--set would change[\s\S]*→/)]);
  const stranger = await rig.sluice('run', 'q.yaml');
  expect([stranger.code, stranger.stderr]).toEqual([
    4,
    expect.stringMatching(/'q' is not among what it keeps[\s\S]*→/),
  ]);
  expect(stranger.stderr).toContain(up.url);
});

test('a run asked for just after an edit of the file is about the file as it is', LIMIT, async () => {
  const { rig, up } = await kept();
  rig.write('in/a.txt', 'a\n');
  await rig.run();
  rig.write('p.yaml', COPY.replace('grep -v fail', 'tr a-z A-Z'));
  // Who keeps it may have followed the edit, and made it, before this run began.
  expect(await rig.run()).toMatchObject({ code: 0, status: 'completed' });
  expect(rig.read('out/a.txt')).toBe('A\n');
  await until(() => up.stderr().includes('was edited and is followed'));
});
