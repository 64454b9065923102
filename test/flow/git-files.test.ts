import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSluice } from '../rig/cli.ts';
import { words } from './words.ts';

const listed = (stdout: string) =>
  [...stdout.matchAll(/^ {2}(new|modified): +(.*)$/gm)].map(([, change, path]) => [change, path]);

describe('the files for git after a run', () => {
  test('test_lock_file_lists_git_trackable_files: lock file and event log, with the line that adds them', async () => {
    const p = words();
    const first = await p.sluice('run', 'p.yaml');
    expect(listed(first.stdout)).toEqual([
      ['new', 'p.lock.yaml'],
      ['new', 'p.events.jsonl'],
    ]);
    expect(first.stdout).toContain('To version this run: git add p.lock.yaml p.events.jsonl && git commit\n');
    p.write('texts/a.txt', 'x y z w\n');
    expect(listed((await p.sluice('run', 'p.yaml')).stdout)).toEqual([
      ['modified', 'p.lock.yaml'],
      ['modified', 'p.events.jsonl'],
    ]);
  });

  test('falsification 31, test_blobs_never_in_git_trackable_list: only metadata, none of the outputs', async () => {
    const p = words();
    const { stdout } = await p.sluice('run', 'p.yaml');
    expect(p.has('counts/a.txt') && p.has('sum.txt')).toBe(true);
    const files = listed(stdout).map(([, path]) => path!);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(file).toMatch(/\.lock\.yaml$|\.events\.jsonl$/);
    expect(stdout).not.toMatch(/counts\/|sum\.txt|runs\.log/);
  });

  test('what it says to type adds exactly these to git, from where the person stands', async () => {
    const p = words({
      "sub dir/it's.yaml": 'stages: {a: {cmd: "echo > {{outs[0].path}}", outs: [a.txt]}}\n',
    });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: p.root, encoding: 'utf8' });
    git('init', '-q');
    const { stdout } = await p.sluice('run', "sub dir/it's.yaml");
    const add = /^To version this run: (git add .*) && git commit$/m.exec(stdout)![1]!;
    execFileSync('sh', ['-c', add], { cwd: p.root });
    expect(git('diff', '--cached', '--name-only').trim().split('\n')).toEqual([
      "sub dir/it's.events.jsonl",
      "sub dir/it's.lock.yaml",
    ]);
  });

  test('a run that does nothing is quiet, and --json has only its document', async () => {
    const p = words();
    await p.run();
    expect((await p.sluice('run', 'p.yaml')).stdout).toMatch(/^p: 0 run, 3 cached in .* s\n$/);
    p.write('texts/a.txt', 'x y z w\n');
    const { stdout } = await runSluice(['run', join(p.root, 'p.yaml'), '--json'], { cwd: p.root });
    expect(JSON.parse(stdout)).toMatchObject({ states_run: 2 });
  });
});
