import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { project } from '../rig/project.ts';
import { FAILING, WORDS, words } from './words.ts';

const TREE = `
stages:
  split:
    cmd: |
      echo split >> runs.log
      mkdir -p {{outs[0].path}}/sub
      for n in one two three; do cat {{deps[0].path}} > {{outs[0].path}}/$n.txt; done
      cp {{deps[0].path}} {{outs[0].path}}/sub/four.txt
    deps: [in.txt]
    outs: [parts/]
`;

describe('lock --verify', () => {
  test('falsification 30, test_verify_detects_blob_mismatch: a corrupted output is reported exactly', async () => {
    const p = words();
    await p.run();
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('✓ All outputs of 2 stages verified.'),
    });
    p.write('counts/b.txt', 'corrupted\n');
    const { code, stdout } = await p.sluice('lock', 'p.yaml', '--verify');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\[1\/2\] count_\{text\}: 2 outputs\n {6}counts\/b\.txt\n {6}lock: blake3:\w+ {2}local: blake3:\w+ {2}✗ MISMATCH\n/,
    );
    expect(stdout).toContain(
      "1 file differs. To make it again: sluice run p.yaml --stage 'count_{text}' --force\n",
    );
    expect(stdout).toMatch(/\[2\/2\] sum: sum\.txt\n {6}lock: (blake3:\w+) {2}local: \1 {2}✓/);
    expect(stdout).not.toContain('counts/a.txt');
  });

  test('what it says to type mends it', async () => {
    const p = words();
    await p.run();
    p.write('sum.txt', 'corrupted\n');
    expect((await p.sluice('lock', 'p.yaml', '--verify')).stdout).toContain(
      'To make it again: sluice run p.yaml --stage sum --force',
    );
    await p.sluice('run', 'p.yaml', '--stage', 'sum', '--force');
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({ code: 0 });
  });

  test('names the files that differ inside a directory', async () => {
    const p = project({ 'p.yaml': TREE, 'in.txt': 'x\n' });
    await p.run();
    p.write('parts/two.txt', 'y\n');
    p.write('parts/five.txt', 'z\n');
    rmSync(join(p.root, 'parts/sub/four.txt'));
    const { stdout } = await p.sluice('lock', 'p.yaml', '--verify');
    expect(stdout).toMatch(
      / new {6}parts\/five\.txt\n +gone {5}parts\/sub\/four\.txt\n +changed {2}parts\/two\.txt\n/,
    );
    expect(stdout).toContain('3 files differ');
    expect(stdout).not.toContain('one.txt');
  });

  test('in a clone, which never saw the directory made, tells how many files there should be', async () => {
    const p = project({ 'p.yaml': TREE, 'in.txt': 'x\n' });
    await p.run();
    rmSync(join(p.root, '.sluice'), { recursive: true });
    p.write('parts/five.txt', 'z\n');
    const { code, stdout } = await p.sluice('lock', 'p.yaml', '--verify');
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('lock: 4 files, 8 bytes; local: 5 files, 10 bytes'),
    ]);
    expect(p.has('.sluice')).toBe(false);
  });

  test('a missing output is a mismatch; --json has every output', async () => {
    const p = words();
    await p.run();
    rmSync(join(p.root, 'sum.txt'));
    const { code, stdout } = await p.sluice('lock', 'p.yaml', '--verify', '--json');
    const { verified, stages } = JSON.parse(stdout);
    expect([code, verified]).toEqual([1, false]);
    expect(stages[1]).toMatchObject({ stage: 'sum', outs: [{ path: 'sum.txt', local: null, ok: false }] });
    expect(stages[0].outs).toHaveLength(2);
  });

  test('falsification 32: outputs that are made again from their sources match the lock file', async () => {
    const p = words();
    await p.run();
    rmSync(join(p.root, 'counts'), { recursive: true });
    rmSync(join(p.root, 'sum.txt'));
    const lock = p.read('p.lock.yaml');
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({ code: 1 });
    await p.run();
    p.write('p.lock.yaml', lock);
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({ code: 0 });
  });

  test('looks without changing anything, and tells a stage that is not in the lock file', async () => {
    const p = words();
    await p.run();
    const before = p.read('p.lock.yaml');
    p.write(
      'p.yaml',
      `${WORDS}  more: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: [sum.txt], outs: [m.txt]}\n`,
    );
    const { code, stdout } = await p.sluice('lock', 'p.yaml', '--verify');
    expect([code, stdout]).toEqual([0, expect.stringContaining('[3/3] more: not in the lock file')]);
    expect(p.read('p.lock.yaml')).toBe(before);
  });

  test.each([
    ['no lock file yet', {}, 1, 'sluice run p.yaml makes one'],
    ['a damaged lock file', { 'p.lock.yaml': 'schema: "1.0"\nplaybook: 3\n' }, 2, 'the lock file is damaged'],
  ])('%s is told with the next step', async (_title, files, code, told) => {
    const p = words(files);
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({
      code,
      stderr: expect.stringContaining(told),
    });
    expect(p.has('.sluice')).toBe(false);
  });

  test('a missing file is told', async () => {
    expect(await words().sluice('lock', 'nope.yaml')).toMatchObject({ code: 2 });
  });
});

describe('lock', () => {
  test('adopts what is on disk, so that a run has nothing to do, and runs nothing itself', async () => {
    const p = words({ 'counts/a.txt': '2\n', 'counts/b.txt': '3\n', 'sum.txt': 'by hand\n' });
    const { code, stdout } = await p.sluice('lock', 'p.yaml');
    expect([code, stdout]).toEqual([0, expect.stringContaining('p: 3 adopted, 3 in the lock file, 0 not')]);
    expect(p.has('runs.log')).toBe(false);
    expect(await p.run()).toMatchObject({ states_run: 0, states_cached: 3 });
    expect(p.read('sum.txt')).toBe('by hand\n');
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({ code: 0 });
  });

  test('tells what it cannot adopt, and a run makes only that', async () => {
    const p = words({ 'counts/a.txt': '2\n' });
    const { stdout } = await p.sluice('lock', 'p.yaml', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      adopted: ['count_a'],
      locked: 1,
      not_adopted: [{ name: 'count_b', because: 'not there: counts/b.txt' }, { name: 'sum' }],
    });
    expect((await p.run()).states.map(({ entity }) => entity)).toEqual(['b', '']);
  });

  test("a person's edit becomes the record", async () => {
    const p = words();
    await p.run();
    p.write('sum.txt', 'edited\n');
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({ code: 1 });
    expect((await p.sluice('lock', 'p.yaml')).stdout).toMatch(/^✓ sum {2}adopted as it is$/m);
    expect(await p.sluice('lock', 'p.yaml', '--verify')).toMatchObject({ code: 0 });
    expect((await p.sluice('status', 'p.yaml')).stdout).not.toContain('edited');
    expect(await p.run()).toMatchObject({ states_run: 0 });
    expect(p.read('sum.txt')).toBe('edited\n');
  });

  test('an output that was made by hand after a failure is adopted', async () => {
    const p = project({ 'p.yaml': FAILING, 'in.txt': '' });
    await p.run();
    p.write('bad.txt', 'by hand\n');
    await p.sluice('lock', 'p.yaml');
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1, states_cached: 1 });
    expect(p.read('never.txt')).toBe('by hand\n');
  });

  test('a stage that was changed is not made again after its output was adopted', async () => {
    const p = words();
    await p.run();
    p.write('p.yaml', WORDS.replace('Words', 'Numbers'));
    await p.sluice('lock', 'p.yaml');
    expect(await p.run()).toMatchObject({ states_run: 0 });
  });
});
