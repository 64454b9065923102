import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { takeOwnership } from '../../host/owner.ts';
import { PROGRAM, temporaryFolder } from '../rig/cli.ts';
import { project } from '../rig/project.ts';
import { WORDS as PLAYBOOK, words } from './words.ts';

describe('a run', () => {
  test('full pipeline, local execution: makes everything once, and a second run does nothing', async () => {
    const p = words();
    expect(await p.run()).toMatchObject({ code: 0, status: 'completed', states_run: 3, states_cached: 0 });
    expect(p.read('sum.txt').replaceAll(' ', '')).toBe('Words\n2\n3\n');
    const lock = p.read('p.lock.yaml');
    expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 3, states: [] });
    expect(p.read('p.lock.yaml')).toBe(lock);
    expect([p.runs('count'), p.runs('sum')]).toEqual([2, 1]);
  });

  test('a state is shown by the name its stage gives it', async () => {
    const { stderr } = await words().run();
    expect(stderr).toMatch(/^✓ count_a .*no lock file found/m);
  });

  test('a file touched without a change runs nothing', async () => {
    const p = words();
    await p.run();
    utimesSync(join(p.root, 'texts/a.txt'), new Date(), new Date());
    expect(await p.run()).toMatchObject({ states_run: 0 });
  });

  test('a changed file runs its own state and what follows, and says why', async () => {
    const p = words();
    await p.run();
    p.write('texts/a.txt', 'one two three four\n');
    const run = await p.run();
    expect(run.states.map(({ stage, entity }) => [stage, entity])).toEqual([
      ['count_{text}', 'a'],
      ['sum', ''],
    ]);
    expect(run.states[0]!.reasons[0]).toMatch(/deps_hash changed: texts\/a\.txt \[blake3:.* → blake3:.*\]/);
    expect(run.states[1]!.reasons[0]).toContain('counts/{text}.txt');
    expect(p.runs('count')).toBe(3);
  });

  test('an upstream that gives the same bytes stops there', async () => {
    const p = words();
    await p.run();
    p.write('texts/a.txt', 'uno dos\n');
    expect(await p.run()).toMatchObject({ states_run: 1, states_cached: 2 });
    expect(p.runs('sum')).toBe(1);
  });

  test('a new file is one new state', async () => {
    const p = words();
    await p.run();
    p.write('texts/c.txt', 'x\n');
    expect(await p.run()).toMatchObject({ states_run: 2, states_cached: 2 });
  });

  test('param change, partial rerun: --set makes again only what uses the param, and leaves the file alone', async () => {
    const p = words();
    await p.run();
    const run = await p.run('--set', 'title=Numbers');
    expect(run).toMatchObject({ states_run: 1, states_cached: 2 });
    expect(run.states[0]!.reasons).toEqual(['params_hash changed: title "Words" → "Numbers"']);
    expect(p.read('p.yaml')).toBe(PLAYBOOK);
  });

  test('a changed command is a reason', async () => {
    const p = words();
    await p.run();
    p.write('p.yaml', PLAYBOOK.replace('echo {{params.title}}', 'echo {{params.title}} too'));
    expect((await p.run()).states).toMatchObject([
      { stage: 'sum', reasons: [expect.stringContaining('cmd_hash')] },
    ]);
  });

  test('a missing output is made again', async () => {
    const p = words();
    await p.run();
    rmSync(join(p.root, 'counts/b.txt'));
    const { states } = await p.run();
    expect(states).toMatchObject([{ entity: 'b', reasons: ['output missing: counts/b.txt'] }]);
  });

  test('a lock file that came through git is believed: a fresh clone with the outputs runs nothing', async () => {
    const p = words();
    await p.run();
    const clone = temporaryFolder();
    cpSync(p.root, clone, { recursive: true });
    rmSync(join(clone, '.sluice'), { recursive: true });
    const q = project({});
    cpSync(clone, q.root, { recursive: true });
    expect(await q.run()).toMatchObject({ states_run: 0, states_cached: 3 });
  });
});

describe("a person's edit", () => {
  test('is used by what follows and never overwritten unasked', async () => {
    const p = words();
    await p.run();
    p.write('counts/a.txt', '99\n');
    expect((await p.run()).states.map(({ stage }) => stage)).toEqual(['sum']);
    expect(p.read('counts/a.txt')).toBe('99\n');
    expect(p.read('sum.txt')).toContain('99');
    const { stderr } = await p.run();
    expect(stderr).toContain('edited by hand: counts/a.txt');
  });

  test('is made again with --force', async () => {
    const p = words();
    await p.run();
    p.write('counts/a.txt', '99\n');
    expect(await p.run('--force')).toMatchObject({ states_run: 3 });
    expect(p.read('counts/a.txt').trim()).toBe('2');
  });
});

describe('a failure', () => {
  const failing = (policy: string) =>
    project({
      'p.yaml': `
policy: {failure: ${policy}}
stages:
  bad: {cmd: "echo half > {{outs[0].path}}; echo no such luck >&2; exit 3", deps: [in.txt], outs: [bad.txt]}
  after_bad: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: [bad.txt], outs: [never.txt]}
  other: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: [in.txt], outs: [other.txt]}
`,
      'in.txt': 'x',
    });

  test('jidoka stops on first failure: exit code 1, what it said, and nothing half-written in sight', async () => {
    const p = failing('stop_on_first');
    const run = await p.run('--jobs', '1');
    expect(run).toMatchObject({ code: 1, status: 'failed' });
    expect(run.states.map(({ stage, status }) => [stage, status])).toEqual([
      ['bad', 'failed'],
      ['after_bad', 'skipped'],
      ['other', 'skipped'],
    ]);
    expect(run.states[0]!.error).toBe('exit code 3\nno such luck');
    expect(readdirSync(p.root).filter((name) => /bad|never|other|sluice-/.test(name))).toEqual([]);
  });

  test('continue on failure runs branches that do not need it', async () => {
    const p = failing('continue_on_failure');
    const run = await p.run();
    expect(run.states.map(({ status }) => status)).toEqual(['failed', 'skipped', 'completed']);
    expect(run.states[1]!.reasons).toEqual(['waits for bad']);
  });

  test('resume from lock file: what was made before the failure is not made again', async () => {
    const p = project({
      'p.yaml': `
stages:
  one: {cmd: "echo one >> runs.log; echo 1 > {{outs[0].path}}", outs: [one.txt], deps: [in.txt]}
  two: {cmd: "echo two >> runs.log; test -e ok && cp {{deps[0].path}} {{outs[0].path}}", deps: [one.txt], outs: [two.txt]}
`,
      'in.txt': 'x',
    });
    expect((await p.run()).code).toBe(1);
    p.write('ok', '');
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1, states_cached: 1 });
    expect([p.runs('one'), p.runs('two')]).toEqual([1, 2]);
  });

  test('a declared output that was not made is one', async () => {
    const p = project({ 'p.yaml': 'stages: {a: {cmd: "true", outs: [o.txt]}}' });
    expect((await p.run()).states).toMatchObject([
      { status: 'failed', error: expect.stringContaining('o.txt') },
    ]);
  });

  test('an input that nobody makes is waited for, by name', async () => {
    const p = project({ 'p.yaml': 'stages: {a: {cmd: "cp in o", deps: [in], outs: [o]}}' });
    const run = await p.run();
    expect(run).toMatchObject({ code: 1, states: [{ status: 'waiting', reasons: ['missing in'] }] });
  });

  test('a time limit ends the command', async () => {
    const p = project({ 'p.yaml': 'stages: {a: {cmd: "sleep 60", outs: [o], resources: {timeout: 100ms}}}' });
    expect((await p.run()).states).toMatchObject([
      { status: 'failed', error: expect.stringContaining('timed out') },
    ]);
  });
});

test('no name of a file becomes shell code', async () => {
  const name = '$(touch hacked) ; `touch hacked` "\'';
  const p = project({ 'p.yaml': PLAYBOOK, [`texts/${name}.txt`]: 'one two\n', 'texts/-n.txt': 'one\n' });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 3 });
  expect(p.has('hacked')).toBe(false);
  expect(p.read(`counts/${name}.txt`).trim()).toBe('2');
});

test('a command that writes its declared path itself works too', async () => {
  const p = project({ 'p.yaml': 'stages: {a: {cmd: "mkdir -p o && echo 1 > o/x", outs: [o/]}}' });
  expect(await p.run()).toMatchObject({ states_run: 1 });
  expect(await p.run()).toMatchObject({ states_run: 0 });
});

test('deterministic: false runs every time, an action without anything before it too', async () => {
  const p = project({
    'p.yaml': `
stages:
  dice: {cmd: "echo 4 > {{outs[0].path}}", outs: [dice.txt], deterministic: false}
  hello: {cmd: "echo hello >> runs.log"}
`,
  });
  await p.run();
  expect(await p.run()).toMatchObject({ states_run: 2 });
  expect(p.runs('hello')).toBe(2);
});

describe('frozen', () => {
  const FROZEN =
    'stages: {a: {cmd: "echo a >> runs.log; cp in {{outs[0].path}}", deps: [in], outs: [o], frozen: true}}';

  test('an existing output is adopted and stays, whatever its inputs do; --force overrides', async () => {
    const p = project({ 'p.yaml': FROZEN, in: '1', o: 'old' });
    expect(await p.run()).toMatchObject({ code: 0, states_run: 0 });
    p.write('in', '2');
    const { code, states_run, stderr } = await p.run();
    expect({ code, states_run }).toEqual({ code: 0, states_run: 0 });
    expect(stderr).toContain('frozen, kept despite: deps_hash changed: in');
    expect(p.read('o')).toBe('old');
    expect(await p.run('--force')).toMatchObject({ states_run: 1 });
  });

  test('an output whose inputs are gone is kept', async () => {
    const p = project({ 'p.yaml': FROZEN, o: 'old' });
    expect(await p.run()).toMatchObject({ code: 0, states_run: 0 });
  });

  test('without an output it is refused, with --force named', async () => {
    const p = project({ 'p.yaml': FROZEN, in: '1' });
    expect((await p.run()).states).toMatchObject([
      { status: 'failed', error: expect.stringContaining('--force') },
    ]);
  });
});

test('what cannot be done yet is refused by name, and nothing runs', async () => {
  const p = project({
    'p.yaml': `
targets: {gpu: {host: gpu.local}}
stages:
  a: {cmd: "touch ran", target: gpu}
  b: {cmd: "touch ran", outs: [{path: x, remote: gpu}]}
`,
  });
  const { code, stderr } = await p.sluice('run', 'p.yaml');
  expect(code).toBe(1);
  for (const feature of ["the target 'gpu' (stage 'a')", "remote outs (stage 'b')"])
    expect(stderr).toContain(feature);
  expect(readdirSync(p.root)).toEqual(['p.yaml']);
});

test('a stage waits for the slots of a pool that it asks for; one that asks for more than there are is refused', async () => {
  const p = project({
    'p.yaml': `
stages:
  use_{x}:
    cmd: mkdir busy && echo use >> runs.log && rmdir busy && touch {{outs[0].path}}
    deps: ["in/{x}"]
    outs: ["out/{x}"]
    resources: {slots: {db: 1}}
`,
  });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    mkdirSync(join(p.root, 'in'), { recursive: true });
    p.write(`in/${name}`, name);
  }
  expect((await p.sluice('run', 'p.yaml')).stderr).toContain(
    "needs 1 of the pool 'db', and this machine has 0",
  );
  expect(await p.run('--jobs', '4', '--pool', 'db=1')).toMatchObject({ code: 0, states_run: 6 });
  expect(p.runs('use')).toBe(6);
});

test('policy.concurrency: fail says that another run is at work, with exit code 4', async () => {
  const p = project({ 'p.yaml': 'policy: {concurrency: fail}\nstages: {a: {cmd: "true"}}' });
  const owner = takeOwnership(join(p.root, '.sluice', 'owner.db'))!;
  expect(takeOwnership(join(p.root, '.sluice', 'owner.db'))).toBeNull();
  expect(await p.sluice('run', 'p.yaml')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('another sluice'),
  });
  owner.release();
  expect(await p.sluice('run', 'p.yaml')).toMatchObject({ code: 0 });
});

test('--set of an unknown param names the nearest', async () => {
  const p = words();
  const { code, stderr } = await p.sluice('run', 'p.yaml', '--set', 'titel=x');
  expect(code).toBe(1);
  expect(stderr).toContain("did you mean 'title'");
});

const keysIn = (lock: string) => lock.match(/cache_key"?: ?"[^"]*"/g);

test('a damaged lock file is told with its line, kept aside, and written anew; nothing runs', async () => {
  const p = words();
  await p.run();
  const whole = p.read('p.lock.yaml');
  const damaged = `${whole}\n<<<<<<< HEAD\n`;
  p.write('p.lock.yaml', damaged);
  const { stderr } = await p.sluice('status', 'p.yaml');
  expect(stderr).toMatch(/p\.lock\.yaml:\d+: the lock file holds a git conflict; a copy is kept as/);
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 3 });
  expect(keysIn(p.read('p.lock.yaml'))).toEqual(keysIn(whole));
  const aside = readdirSync(join(p.root, '.sluice')).filter((name) => name.includes('lock.yaml.damaged-'));
  expect(aside.map((name) => p.read(`.sluice/${name}`))).toEqual([damaged]);
});

test('the environment of a command is clean', async () => {
  const p = project({
    'p.yaml': 'stages: {a: {cmd: "env > {{outs[0].path}}", outs: [env.txt], env: {MINE: "1"}}}',
  });
  await p.run();
  const names = p
    .read('env.txt')
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names).toEqual(expect.arrayContaining(['PATH', 'MINE', 'SLUICE_STAGE', 'TMPDIR']));
  expect(names).not.toContain('NODE_OPTIONS');
});

test('after kill -9 in stage 3 stages 1 and 2 are kept, and nothing of stage 3 goes on running', async () => {
  const p = project({
    'p.yaml': `
stages:
  one: {cmd: "echo 1 > {{outs[0].path}}", outs: [one.txt]}
  two: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: [one.txt], outs: [two.txt]}
  three: {cmd: "echo $$ > pid; cat hold > {{outs[0].path}}", deps: [two.txt], outs: [three.txt]}
`,
  });
  execFileSync('mkfifo', [join(p.root, 'hold')]);
  const child = spawn(process.execPath, [PROGRAM, 'run', 'p.yaml'], { cwd: p.root, stdio: 'ignore' });
  await vi.waitUntil(() => p.has('pid') && p.read('pid') !== '', { timeout: 15_000 });
  child.kill('SIGKILL');
  const pid = p.read('pid').trim();
  await vi.waitUntil(() => !isRunning(pid), { timeout: 15_000 });
  expect(p.has('three.txt')).toBe(false);
  rmSync(join(p.root, 'hold'));
  p.write('hold', 'done');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 1, states_cached: 2 });
  expect(p.read('three.txt')).toBe('done');
});

/** A zombie has ended; nothing here may reap it. */
function isRunning(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
