import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { PROGRAM } from '../rig/cli.ts';
import { project } from '../rig/project.ts';

const SLUICE = `stages:
  "up_{x}":
    cmd: echo up >> runs.log; if [ -p hold ]; then echo $$ > pid; cat hold; fi; tr a-z A-Z < {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{x}"]
    outs: ["mid/{x}"]
  "end_{x}":
    cmd: echo end >> runs.log; if grep -q FAIL {{deps[0].path}}; then exit 3; fi; cat {{deps[0].path}} > {{outs[0].path}}
    deps: ["mid/{x}"]
    outs: ["out/{x}"]
`;

/** Settled, with a verdict of nothing to do that the next run can go on from. */
async function settled(...asked: string[]) {
  const p = project({ 'p.yaml': SLUICE, 'in/a': 'first', 'in/b': 'other' });
  await p.run(...asked);
  // The stamps of what was just written are too young to be relied on for an instant.
  await expect
    .poll(async () => (await p.run(...asked)) && p.has('.sluice/clean/p.yaml'), { timeout: 10_000 })
    .toBe(true);
  const whole = join(p.root, '.sluice/reported/p.yaml');
  return {
    ...p,
    reported: () => readFileSync(whole, 'utf8'),
    /** Whether a run found nothing to do without taking the project to open its database. */
    async isAnsweredAtOnce() {
      const owner = join(p.root, '.sluice/owner.db');
      rmSync(owner, { force: true });
      expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 4 });
      return !existsSync(owner);
    },
  };
}

test('a changed file is made with what follows it; nothing else is read, and the verdict is kept', async () => {
  const p = await settled();
  const [lock, reported] = [p.read('p.lock.yaml').split('\n'), p.reported()];
  p.write('in/a', 'second');
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, states_run: 2, states_cached: 2 });
  expect(run.states[0]!.reasons.join()).toMatch(/deps_hash changed: in\/a/);
  expect([p.runs('up'), p.runs('end'), p.read('out/a')]).toEqual([3, 3, 'SECOND']);
  // Of what was told only the news was added, and of the lock file two states and the time are other lines.
  expect(p.reported().startsWith(reported)).toBe(true);
  const after = p.read('p.lock.yaml').split('\n');
  expect(after.filter((line, i) => line !== lock[i]).map((line) => line.trim().split(':')[0])).toEqual([
    'generated_at',
    '"a"',
    '"a"',
  ]);
  expect(await p.isAnsweredAtOnce()).toBe(true);
});

test('what it keeps is no second verdict: edits that fool stamps are noticed after it', async () => {
  const p = await settled();
  p.write('in/a', 'second');
  await p.run();
  const { atime, mtime } = statSync(join(p.root, 'in/a'));
  writeFileSync(join(p.root, 'in/a'), 'third!');
  utimesSync(join(p.root, 'in/a'), atime, mtime);
  expect(await p.run()).toMatchObject({ states_run: 2 });
  expect(p.read('out/a')).toBe('THIRD!');
  rmSync(join(p.root, 'out/b'));
  expect(await p.run()).toMatchObject({ states_run: 1 });
  expect(p.read('out/b')).toBe('OTHER');
});

test('a file that was changed back runs nothing, for its record is kept', async () => {
  const p = await settled();
  p.write('in/a', 'second');
  await p.run();
  p.write('in/a', 'first');
  p.write('mid/a', 'FIRST');
  p.write('out/a', 'FIRST');
  const before = p.runs('up') + p.runs('end');
  await p.run();
  expect(p.runs('up') + p.runs('end')).toBe(before);
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0 });
});

test('an output that a person changed is used by what follows and told as edited', async () => {
  const p = await settled();
  p.write('mid/a', 'BY HAND');
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, states_run: 1 });
  expect(run.stderr).toMatch(/edited by hand: mid\/a/);
  expect(p.read('out/a')).toBe('BY HAND');
});

test('after kill -9 in the middle nothing is believed to be under way, or done', async () => {
  const p = await settled();
  execFileSync('mkfifo', [join(p.root, 'hold')]);
  p.write('in/a', 'second');
  const child = spawn(process.execPath, [PROGRAM, 'run', 'p.yaml'], { cwd: p.root, stdio: 'ignore' });
  await vi.waitUntil(() => p.has('pid') && p.read('pid') !== '', { timeout: 30_000 });
  child.kill('SIGKILL');
  await once(child, 'close');
  rmSync(join(p.root, 'hold'));
  expect(await p.run()).toMatchObject({ code: 0, states_run: 2 });
  expect(p.read('out/a')).toBe('SECOND');
});

test('after a failure nothing is believed to be done', async () => {
  const p = await settled();
  p.write('in/a', 'fail');
  expect(await p.run()).toMatchObject({ code: 1, status: 'failed' });
  expect(await p.run()).toMatchObject({ code: 1, status: 'failed' });
  p.write('in/a', 'well');
  expect(await p.run()).toMatchObject({ code: 0 });
  expect(p.read('out/a')).toBe('WELL');
});

test('where a file has come as well, all is looked at', async () => {
  const p = await settled();
  p.write('in/a', 'second');
  p.write('in/c', 'third');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 4, states_cached: 2 });
  expect(p.read('out/c')).toBe('THIRD');
});

test('the workflow may have changed meanwhile', async () => {
  const p = await settled();
  p.write('in/a', 'second');
  p.write('p.yaml', SLUICE.replace('tr a-z A-Z', 'tr a-z b-z'));
  expect(await p.run()).toMatchObject({ code: 0, states_run: 4 });
});

test('a file that comes where nothing is looked for changes no verdict', async () => {
  const p = await settled();
  p.write('README', 'read me');
  expect(await p.isAnsweredAtOnce()).toBe(true);
});

test('of one state only that is made with what it needs, and what else has changed waits for its run', async () => {
  const p = await settled('--stage', 'end_{x}@a');
  const reported = p.reported();
  p.write('in/a', 'second');
  p.write('in/b', 'changed');
  expect(await p.run('--stage', 'end_{x}@a')).toMatchObject({ code: 0, states_run: 2, states_cached: 0 });
  expect(p.reported().startsWith(reported)).toBe(true);
  expect([p.read('out/a'), p.has('out/b')]).toEqual(['SECOND', false]);
  expect(await p.run('--stage', 'end_{x}@a')).toMatchObject({ code: 0, states_run: 0, states_cached: 2 });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 2, states_cached: 2 });
  expect(p.read('out/b')).toBe('CHANGED');
});

test('a database that turns out to be damaged is replaced, and all is looked at', async () => {
  const p = await settled();
  const file = join(p.root, '.sluice/state.db');
  const [bytes, { atime, mtime }] = [readFileSync(file), statSync(file)];
  writeFileSync(file, bytes.fill(0, 0, 100 * 1024));
  utimesSync(file, atime, mtime);
  p.write('in/a', 'second');
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, states_run: 2, states_cached: 2 });
  expect(run.stderr).toMatch(/state\.db is damaged/);
});

test('what another workflow of the project did to the database makes it look at all', async () => {
  const p = await settled();
  p.write('q.yaml', 'stages: {q: {cmd: "echo q > {{outs[0].path}}", outs: [q.txt]}}');
  expect(await p.sluice('run', 'q.yaml')).toMatchObject({ code: 0 });
  p.write('in/a', 'second');
  rmSync(join(p.root, 'out/b'));
  expect(await p.run()).toMatchObject({ code: 0, states_run: 3, states_cached: 1 });
});
