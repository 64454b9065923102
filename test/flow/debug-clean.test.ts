import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeOwnership } from '../../host/owner.ts';
import { project } from '../rig/project.ts';
import { FAILING, words } from './words.ts';

const failing = () => project({ 'p.yaml': FAILING, 'in.txt': '' });

/** Texts with the word bad in them cannot be counted. */
const SOME_FAIL = `
policy: {failure: continue_on_failure}
stages:
  count_{text}:
    cmd: |
      if grep -q bad {{deps[0].path}}; then echo cannot count >&2; exit 4; fi
      wc -w < {{deps[0].path}} > {{outs[0].path}}
    deps: ["texts/{text}.txt"]
    outs: ["counts/{text}.txt"]
`;

describe('debug', () => {
  test('shows the command, its exit code, what it said and how to run it by hand', async () => {
    const p = failing();
    await p.run();
    const { code, stdout } = await p.sluice('debug', 'p.yaml', '--stage', 'bad');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^bad {2}exit code 3\n/);
    expect(stdout).toMatch(/command:\n {4}echo some output\n/);
    expect(stdout).toMatch(/stdout:\n {4}some output\nstderr:\n {4}no such luck\n/);
    const byHand = stdout.trimEnd().split('\n').at(-1)!.trim();
    expect(() => execFileSync('sh', ['-c', byHand], { stdio: 'pipe' })).toThrow(/no such luck/);
  });

  test('--json has the work directory', async () => {
    const p = failing();
    await p.run();
    const { stdout } = await p.sluice('debug', 'p.yaml', '--stage', 'bad', '--json');
    const { work_dir, ...rest } = JSON.parse(stdout);
    expect(existsSync(join(work_dir, '.command.sh'))).toBe(true);
    expect(rest).toMatchObject({ stage: 'bad', entity: '', exit_code: 3, stderr: 'no such luck\n' });
  });

  test('of many jobs takes the one that failed, or the one that is named', async () => {
    const p = words({ 'p.yaml': SOME_FAIL, 'texts/c.txt': 'bad\n' });
    await p.run();
    expect((await p.sluice('debug', 'p.yaml', '--stage', 'count_{text}')).stdout).toMatch(/^count_c /);
    const args = ['debug', 'p.yaml', '--stage', 'count_{text}', '--job'];
    for (const job of ['a', 'a.txt']) expect((await p.sluice(...args, job)).stdout).toMatch(/^count_a /);
    expect((await p.sluice('debug', 'p.yaml', '--stage', 'count_b')).stdout).toMatch(/^count_b /);
    expect(await p.sluice(...args, 'zz')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no job 'zz'\n  → known: a, b, c"),
    });
  });

  test('asks which, if several failed', async () => {
    const p = words({ 'p.yaml': SOME_FAIL, 'texts/c.txt': 'bad\n', 'texts/d.txt': 'bad\n' });
    await p.run();
    expect(await p.sluice('debug', 'p.yaml', '--stage', 'count_{text}')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has 2 jobs that failed: c, d\n.*choose one: --job c/),
    });
  });

  test.each([
    ['no stage', ['debug', 'p.yaml'], 1, 'debug needs --stage'],
    ['an unknown stage', ['debug', 'p.yaml', '--stage', 'bda'], 1, "did you mean 'bad'?"],
    [
      'a job of a stage that has none',
      ['debug', 'p.yaml', '--stage', 'bad', '--job', 'x'],
      1,
      'leave out --job',
    ],
    ['a state that never ran', ['debug', 'p.yaml', '--stage', 'bad'], 1, 'it never ran here'],
    ['a missing file', ['debug', 'nope.yaml', '--stage', 'bad'], 2, 'does not exist'],
  ])('%s is told with the next step', async (_title, args, code, told) => {
    expect(await failing().sluice(...args)).toMatchObject({ code, stderr: expect.stringContaining(told) });
  });
});

describe('a failing stage in a run', () => {
  test('shows its command, exit code, the last lines of its output, and the next command to type', async () => {
    const p = failing();
    const { stderr } = await p.sluice('run', 'p.yaml');
    expect(stderr).toContain(
      [
        '    exit code 3',
        '    command:',
        '      echo some output',
        '      echo no such luck >&2',
        '      exit 3',
        '    stderr:',
        '      no such luck',
        '    → sluice debug p.yaml --stage bad',
      ].join('\n'),
    );
    expect((await p.sluice('debug', 'p.yaml', '--stage', 'bad')).code).toBe(0);
  });

  test('shows only the last lines of much output', async () => {
    const cmd = 'i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo line $i >&2; done; exit 1';
    const p = project({
      'p.yaml': `stages: {bad: {cmd: "${cmd}", deps: [in.txt], outs: [o]}}`,
      'in.txt': '',
    });
    const { stderr } = await p.sluice('run', 'p.yaml');
    expect(stderr).toMatch(/stderr \(last 12 of 50 lines\):\n +line 39\n/);
    expect(stderr).not.toMatch(/line 38$/m);
  });

  test('the command to type is good for a state with a strange name too', async () => {
    const p = words({ 'p.yaml': SOME_FAIL, "texts/it's $(x) bad.txt": 'bad\n' });
    const { stderr } = await p.sluice('run', 'p.yaml');
    const line = /→ sluice (debug .*)$/m.exec(stderr)![1]!;
    const args = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(await p.sluice(...args)).toMatchObject({ code: 0 });
  });
});

describe('clean', () => {
  const workDirs = (p: { root: string }) => {
    const base = join(p.root, '.sluice/work');
    return readdirSync(base).flatMap((bucket) =>
      readdirSync(join(base, bucket)).map((name) => join(base, bucket, name)),
    );
  };

  test('removes the work directories of what is settled, keeps those of failures, and tells how much', async () => {
    const p = words({ 'p.yaml': SOME_FAIL, 'texts/c.txt': 'bad\n' });
    await p.run();
    expect(workDirs(p)).toHaveLength(3);
    const { code, stdout } = await p.sluice('clean', 'p.yaml');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^2 work directories removed, \d+ bytes freed, 1 kept\n$/),
    ]);
    expect(workDirs(p)).toHaveLength(1);
    expect((await p.sluice('debug', 'p.yaml', '--stage', 'count_c')).code).toBe(0);
    expect(await p.run()).toMatchObject({ states_cached: 2 });
  });

  test('--keep-latest keeps the newest of each stage', async () => {
    const p = words();
    await p.run();
    for (const dir of workDirs(p)) utimesSync(dir, 1_000, 1_000);
    const kept = JSON.parse(
      (await p.sluice('debug', 'p.yaml', '--stage', 'count_a', '--json')).stdout,
    ).work_dir;
    utimesSync(kept, 2_000, 2_000);
    const { stdout } = await p.sluice('clean', 'p.yaml', '--keep-latest', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ removed: 1, kept: 2, stuck: [] });
    expect(existsSync(kept)).toBe(true);
  });

  test('leaves the work directories of other workflows alone', async () => {
    const p = words({ 'q.yaml': SOME_FAIL.replaceAll('counts', 'others') });
    await p.run();
    await p.sluice('run', 'q.yaml');
    expect((await p.sluice('clean', 'q.yaml')).stdout).toMatch(/^2 work directories removed/);
    expect(workDirs(p)).toHaveLength(3);
  });

  test('without a database there is nothing to clean, and nothing is made', async () => {
    const p = words();
    expect(await p.sluice('clean', 'p.yaml')).toMatchObject({ code: 0, stdout: 'nothing to clean\n' });
    expect(p.has('.sluice')).toBe(false);
  });

  test('a missing file is told, and a run that is going on is left alone with exit code 4', async () => {
    const p = words();
    expect(await p.sluice('clean', 'nope.yaml')).toMatchObject({ code: 2 });
    await p.run();
    const owner = takeOwnership(join(p.root, '.sluice', 'owner.db'));
    try {
      expect(await p.sluice('clean', 'p.yaml')).toMatchObject({ code: 4 });
      expect(workDirs(p)).toHaveLength(3);
    } finally {
      owner!.release();
    }
  });

  test('a workflow that was never run in a project that knows others is told', async () => {
    const p = words({ 'q.yaml': SOME_FAIL });
    await p.run();
    expect(await p.sluice('clean', 'q.yaml')).toMatchObject({ code: 0, stdout: 'nothing to clean\n' });
  });
});
