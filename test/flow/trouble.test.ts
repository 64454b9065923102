// What goes wrong around a run: signals, other runs, files that are missing, closed, foreign, damaged; a full disk.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PROGRAM, runSluice } from '../rig/cli.ts';
import { project } from '../rig/project.ts';

type Project = ReturnType<typeof project>;

const CHAIN = `
stages:
  one: {cmd: "echo one >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: [in], outs: [one.txt]}
  two: {cmd: "echo two >> runs.log; cat hold; cat {{deps[0].path}} > {{outs[0].path}}", deps: [one.txt], outs: [two.txt]}
`;

describe('a signal', () => {
  test.each([
    ['SIGINT', 1],
    ['SIGTERM', 1],
  ] as const)(
    '%s ends the run in order: what is done is kept, the rest is as it was',
    async (signal, exitCode) => {
      const p = project({ 'p.yaml': CHAIN, in: 'x' });
      execFileSync('mkfifo', [join(p.root, 'hold')]);
      const child = spawn(process.execPath, [PROGRAM, 'run', 'p.yaml'], { cwd: p.root, stdio: 'ignore' });
      const exited = new Promise((resolve) => child.on('exit', resolve));
      await vi.waitUntil(() => p.runs('two') === 1, { timeout: 15_000, interval: 5 });
      child.kill(signal);
      expect(await exited).toBe(exitCode);
      expect(p.has('two.txt')).toBe(false);
      expect(p.read('p.lock.yaml')).toContain('one.txt');
      expect(p.read('p.events.jsonl')).toMatch(/run_completed.*\n$/);
      execFileSync('rm', [join(p.root, 'hold')]);
      p.write('hold', '');
      expect(await p.run()).toMatchObject({ code: 0, states_run: 1, states_cached: 1 });
      expect(p.runs('one')).toBe(1);
    },
  );

  test('twice ends it at once, even if a command does not want to', async () => {
    const p = project({
      'p.yaml':
        'stages: {a: {cmd: "set +e; trap : TERM; echo a >> runs.log; while :; do sleep 0.05; done", outs: [o]}}',
    });
    const child = spawn(process.execPath, [PROGRAM, 'run', 'p.yaml'], { cwd: p.root, stdio: 'ignore' });
    const exited = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)));
    await vi.waitUntil(() => p.runs('a') === 1, { timeout: 15_000, interval: 5 });
    const begun = performance.now();
    // Two that come together may be seen as one, so it goes on until it is heard.
    const insisting = setInterval(() => child.kill('SIGINT'), 20);
    onTestFinished(() => clearInterval(insisting));
    expect(await exited).toBe('SIGINT');
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});

describe('a state that cannot be made says why', () => {
  const failing = async (stage: string, files: Record<string, string> = {}) => {
    const p = project({ 'p.yaml': `stages: {a: {${stage}}}`, ...files });
    const run = await p.run();
    expect(run.code).toBe(1);
    return { p, state: run.states[0]!, stderr: run.stderr };
  };

  test('a missing dep is named with its stage', async () => {
    const { state, stderr } = await failing('cmd: "true", deps: [no.txt], outs: [o]');
    expect(state).toMatchObject({ stage: 'a', status: 'waiting', reasons: ['missing no.txt'] });
    expect(stderr).toMatch(/a .*missing no\.txt/);
  });

  test('a command that is not found is explained', async () => {
    const { state } = await failing('cmd: "no-such-program-here > {{outs[0].path}}", outs: [o]');
    expect(state.error).toMatch(/exit code 127: a command was not found[\s\S]*no-such-program-here/);
  });

  test('a signal is named', async () => {
    const { state } = await failing('cmd: "kill -SEGV $$", outs: [o]');
    expect(state.error).toContain('killed by SIGSEGV (exit code 139)');
  });

  test('an output that was declared and not made is named', async () => {
    const { state } = await failing('cmd: "true", outs: [made/o.txt]');
    expect(state.error).toMatch(/did not make .*made\/o\.txt/);
  });

  test('what a failed command wrote straight to its declared path is removed, and is never fresh', async () => {
    const { p } = await failing('cmd: "echo half > direct.txt; exit 1", outs: [direct.txt]');
    expect(p.has('direct.txt')).toBe(false);
    p.write('p.yaml', p.read('p.yaml').replace('exit 1', 'exit 0'));
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
  });

  test('what stood at a declared path before a command that never touched it failed is left alone', async () => {
    const { p } = await failing('cmd: "exit 1", outs: [direct.txt]', { 'direct.txt': 'mine' });
    expect(p.read('direct.txt')).toBe('mine');
  });

  test('an input that is a pipe is named', async () => {
    const p = project({ 'p.yaml': 'stages: {a: {cmd: "true", deps: [in], outs: [o]}}' });
    execFileSync('mkfifo', [join(p.root, 'in')]);
    const { code, stderr } = await p.sluice('run', 'p.yaml');
    expect(code).toBe(1);
    expect(stderr).toMatch(/\/in: it is a pipe/);
  });
});

test('links: a dep that is one is followed; one inside a directory dep counts by its text', async () => {
  const p = project({
    'p.yaml': `
stages:
  a: {cmd: "echo a >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: [link], outs: [a.txt]}
  b: {cmd: "echo b >> runs.log; ls -R tree > {{outs[0].path}}", deps: [tree/], outs: [b.txt]}
`,
    'real.txt': '1',
    'tree/f': 'f',
  });
  symlinkSync('real.txt', join(p.root, 'link'));
  symlinkSync('../real.txt', join(p.root, 'tree/inner'));
  symlinkSync('.', join(p.root, 'tree/loop'));
  expect(await p.run()).toMatchObject({ code: 0, states_run: 2 });
  p.write('real.txt', '2');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
  expect([p.runs('a'), p.runs('b'), p.read('a.txt')]).toEqual([2, 1, '2']);
});

const ONE =
  'stages: {a: {cmd: "echo a >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: [in], outs: [o]}}';

test('a damaged state database is named, kept aside, and rebuilt from lock file and disk', async () => {
  const p = project({ 'p.yaml': ONE, in: 'x' });
  await p.run();
  for (const name of readdirSync(join(p.root, '.sluice')).filter((each) => each.startsWith('state.db')))
    writeFileSync(
      join(p.root, '.sluice', name),
      'this is no database at all, not even nearly one\n'.repeat(100),
    );
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, states_run: 0, states_cached: 1 });
  expect(run.stderr).toMatch(/state\.db .*damaged/);
  expect(readdirSync(join(p.root, '.sluice')).some((name) => name.startsWith('state.db.damaged-'))).toBe(
    true,
  );
  expect(p.runs('a')).toBe(1);
});

test('a state database that is damaged while a run goes on is set aside, and the run goes on with a new one', async () => {
  const damage =
    '[ -e hit ] || for f in .sluice/state.db*; do dd if=/dev/zero of=$f bs=4096 count=60 conv=notrunc; done; touch hit';
  const p = project({
    'p.yaml': `
stages:
  one: {cmd: "echo one >> runs.log; cp {{deps[0].path}} {{outs[0].path}}", deps: [in], outs: [one.txt]}
  two: {cmd: "${damage}; cp {{deps[0].path}} {{outs[0].path}}", deps: [one.txt], outs: [two.txt]}
  three: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: [two.txt], outs: [three.txt]}
`,
    in: 'x',
  });
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, status: 'completed' });
  expect(run.stderr).toMatch(/state\.db is damaged; it was moved to .*damaged-/);
  expect(run.stderr).not.toMatch(/^ +at /m);
  expect([p.runs('one'), p.read('three.txt')]).toEqual([1, 'x']);
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 3 });
});

test('a state database that somebody removed costs no work: the lock file is taken again', async () => {
  const p = project({ 'p.yaml': ONE, in: 'x' });
  await p.run();
  for (const name of readdirSync(join(p.root, '.sluice')).filter((each) => each.startsWith('state.db')))
    execFileSync('rm', [join(p.root, '.sluice', name)]);
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 1 });
});

test('the lock file of another playbook is refused by name, and nothing runs', async () => {
  const p = project({ 'p.yaml': `name: mine\n${ONE}`, in: 'x' });
  await p.run();
  p.write('p.yaml', `name: another\n${ONE}`);
  const { code, stderr } = await p.sluice('run', 'p.yaml');
  expect(code).toBe(2);
  expect(stderr).toContain('mine');
  expect(p.runs('a')).toBe(1);
});

test('a full disk is named as such, burns no attempt, and leaves the old lock file as it was', async ({
  skip,
}) => {
  const p = project({ 'p.yaml': '', in: 'x' });
  const small = join(p.root, 'small');
  mkdirSync(small);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', small], { stdio: 'ignore' });
  } catch {
    return skip('only root may mount a small file system');
  }
  onTestFinished(() => void execFileSync('umount', ['-l', small]));
  const at = (name: string) => join(small, name);
  writeFileSync(at('p.yaml'), ONE);
  writeFileSync(at('in'), 'x');
  expect((await runSluice(['run', 'p.yaml'], { cwd: small })).code).toBe(0);
  const lock = readFileSync(at('p.lock.yaml'), 'utf8');
  writeFileSync(at('in'), 'y');
  try {
    writeFileSync(at('ballast'), Buffer.alloc(4 * 2 ** 20));
  } catch {
    // Full, as it should be.
  }
  const { code, stderr, stdout } = await runSluice(['run', 'p.yaml'], { cwd: small });
  expect(code).toBe(1);
  expect(stderr + stdout).toMatch(/disk is full|no space left/i);
  expect(stderr).not.toContain('This is a bug');
  expect(readFileSync(at('p.lock.yaml'), 'utf8')).toBe(lock);
  expect(readFileSync(at('p.events.jsonl'), 'utf8')).not.toContain('stage_failed');
  execFileSync('rm', [at('ballast')]);
  const again = await runSluice(['run', 'p.yaml', '--json'], { cwd: small });
  expect(again.code).toBe(0);
  expect(readFileSync(at('o'), 'utf8')).toBe('y');
});

const ON_DISK = `
stages:
  first: {cmd: "echo first >> runs.log; echo 1 > {{outs[0].path}}", outs: [first.txt]}
  big: {cmd: "echo big >> runs.log; CMD", deps: [first.txt], outs: [small/big], retry: {limit: 3, backoff: {initial: 1h}}}
  after: {cmd: "cp small/big {{outs[0].path}}", deps: [small/big], outs: [after.txt]}
`;

/** Nothing of `big` counts; what is done is kept, and with space freed all of it goes well. */
async function withoutRoom(p: Project, free: () => void) {
  const run = await p.run();
  expect(run).toMatchObject({ code: 1, status: 'failed', states_run: 1 });
  expect(run.states.map(({ stage, status }) => [stage, status])).toEqual([
    ['first', 'completed'],
    ['big', 'waiting'],
    ['after', 'skipped'],
  ]);
  const [reason] = run.states[1]!.reasons;
  expect(reason).toMatch(
    /^the disk that holds .*\/small is full \(.*No space left on device\); free some space/,
  );
  expect(p.read('p.lock.yaml')).toContain('first.txt');
  expect(p.read('p.events.jsonl')).not.toContain('stage_failed');
  expect(readdirSync(join(p.root, 'small')).filter((name) => name !== 'ballast')).toEqual([]);
  free();
  expect(await p.run()).toMatchObject({ code: 0, states_run: 2, states_cached: 1 });
  expect([p.runs('first'), p.runs('big')]).toEqual([1, 2]);
}

test('a command that ends because it found no space on the disk burns no attempt, and the run stops', async () => {
  const p = project({
    'p.yaml': ON_DISK.replace(
      'CMD',
      '[ -e freed ] || { echo cp: No space left on device >&2; exit 1; }; echo x > {{outs[0].path}}',
    ),
    'small/.keep': '',
  });
  unlinkSync(join(p.root, 'small/.keep'));
  await withoutRoom(p, () => p.write('freed', ''));
});

test('a disk that is full under the outputs alone burns no attempt, and leaves nothing half-written', async ({
  skip,
}) => {
  const p = project({ 'p.yaml': ON_DISK.replace('CMD', 'head -c 1000000 /dev/zero > {{outs[0].path}}') });
  const small = join(p.root, 'small');
  mkdirSync(small);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', small], { stdio: 'ignore' });
  } catch {
    return skip('only root may mount a small file system');
  }
  onTestFinished(() => void execFileSync('umount', ['-l', small]));
  writeFileSync(join(small, 'ballast'), Buffer.alloc(1.5 * 2 ** 20));
  await withoutRoom(p, () => unlinkSync(join(small, 'ballast')));
});

test('policy.work_dir says where work is done, clean_on_success that nothing of it stays', async () => {
  const work = (policy: string) =>
    project({ 'p.yaml': `policy: {${policy}}\nstages: {a: {cmd: "echo 1 > {{outs[0].path}}", outs: [o]}}` });
  const scripts = (p: Project, folder: string) =>
    (readdirSync(join(p.root, folder), { recursive: true }) as string[]).filter((name) =>
      name.endsWith('.command.sh'),
    );
  const kept = work('work_dir: scratch/work');
  await kept.run();
  expect(scripts(kept, 'scratch/work')).toHaveLength(1);
  const cleaned = work('work_dir: scratch/work, clean_on_success: true');
  await cleaned.run();
  expect(scripts(cleaned, 'scratch/work')).toEqual([]);
});

test('a stage that gives other bytes from the same inputs is warned about', async () => {
  const p = project({
    'p.yaml': 'stages: {a: {cmd: "date +%N > {{outs[0].path}}", deps: [in], outs: [o]}}',
    in: 'x',
  });
  await p.run();
  const { stderr } = await p.run('--force');
  expect(stderr).toContain("stage 'a' is marked deterministic but made other bytes of o");
  expect(stderr).toContain('deterministic: false');
});

test('a time limit ends the whole group of a command', async () => {
  const p = project({
    'p.yaml':
      'stages: {a: {cmd: "(sleep 600 & echo $! > pid; wait) & wait", outs: [o], resources: {timeout: 300ms}}}',
  });
  expect((await p.run()).states).toMatchObject([
    { status: 'failed', error: expect.stringContaining('timed out') },
  ]);
  const pid = p.read('pid').trim();
  await vi.waitUntil(() => !isRunning(pid), { timeout: 5_000, interval: 5 });
});

function isRunning(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
