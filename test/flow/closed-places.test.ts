// Files and folders that this user may not read or write: named with the fact and the next step, nothing is started,
// and what was there is as it was. Root may read and write everything, so as root the program runs as another user.

import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runSluice } from '../rig/cli.ts';
import { project } from '../rig/project.ts';

const NOBODY = process.getuid?.() === 0 ? 65_534 : undefined;
const FILES = {
  'p.yaml': `
stages:
  "c_{x}": {cmd: "echo c >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: ["in/{x}"], outs: ["out/{x}"]}
  tree: {cmd: "ls {{deps[0].path}} > {{outs[0].path}}", deps: ["tree/"], outs: [tree.txt]}
`,
  'in/a': 'a',
  'tree/t': 't',
};

beforeEach(async ({ skip }) => {
  const { code } = await runSluice(['--version'], { uid: NOBODY, cwd: '/' }).catch(() => ({ code: null }));
  if (code !== 0) skip('the program stands where only root can read it');
});

/** Made once, then one thing is closed and something is to be done again. */
async function closed(name: string, mode: number) {
  const p = project(FILES);
  if (NOBODY !== undefined) execFileSync('chown', ['-R', String(NOBODY), p.root]);
  const sluice = (...args: string[]) => runSluice(args, { cwd: p.root, uid: NOBODY });
  expect(await sluice('run', 'p.yaml')).toMatchObject({ code: 0 });
  writeFileSync(join(p.root, 'in/a'), 'b');
  const lock = p.read('p.lock.yaml');
  chmodSync(join(p.root, name), mode);
  onTestFinished(() => chmodSync(join(p.root, name), 0o755));
  const { code, stderr } = await sluice('run', 'p.yaml');
  chmodSync(join(p.root, name), 0o755);
  expect([code, p.runs('c'), p.read('p.lock.yaml')]).toEqual([1, 1, lock]);
  expect(stderr).not.toMatch(/^ +at |This is a bug/m);
  expect(await sluice('run', 'p.yaml', '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"states_run": 1'),
  });
  return stderr;
}

describe('a place that is closed to this user', () => {
  test.each([
    ['an input', 'in/a', 0o000, /\/in\/a: permission to read it is missing \(EACCES\)\n {2}→ mend it/],
    ['a folder of inputs', 'in', 0o000, /\/in: permission to read it is missing/],
    ['a directory dep', 'tree', 0o000, /\/tree: permission to read it is missing/],
    [
      'the lock file, for writing',
      'p.lock.yaml',
      0o444,
      /p\.lock\.yaml is read-only for this user\n {2}→ give/,
    ],
    ['the lock file, for reading', 'p.lock.yaml', 0o000, /cannot read the lock file .*p\.lock\.yaml/],
    ["the lock file's folder", '.', 0o555, /cannot write the lock file .* is read-only for this user/],
    ['the event log', 'p.events.jsonl', 0o444, /p\.events\.jsonl: this user has no permission for it/],
    [
      'the folder of the database',
      '.sluice',
      0o555,
      /\.sluice\/owner\.db: permission to write .* is missing/,
    ],
    ['the database', '.sluice/state.db', 0o400, /cannot use .*state\.db/],
  ])('%s', async (_, name, mode, told) => {
    expect(await closed(name, mode)).toMatch(told);
  });

  test('a lock file that may not be written is no obstacle while there is nothing to write', async () => {
    const p = project(FILES);
    if (NOBODY !== undefined) execFileSync('chown', ['-R', String(NOBODY), p.root]);
    const sluice = (...args: string[]) => runSluice(args, { cwd: p.root, uid: NOBODY });
    await sluice('run', 'p.yaml');
    chmodSync(join(p.root, 'p.lock.yaml'), 0o444);
    expect(await sluice('run', 'p.yaml')).toMatchObject({ code: 0 });
  });

  test('a lock file that may not be written is refused where a run goes on from its last verdict, too', async () => {
    const p = project(FILES);
    if (NOBODY !== undefined) execFileSync('chown', ['-R', String(NOBODY), p.root]);
    const sluice = (...args: string[]) => runSluice(args, { cwd: p.root, uid: NOBODY });
    // The stamps of what was just written are too young to be relied on for an instant.
    await expect
      .poll(async () => (await sluice('run', 'p.yaml')).code === 0 && p.has('.sluice/clean/p.yaml'), {
        timeout: 10_000,
      })
      .toBe(true);
    chmodSync(join(p.root, 'p.lock.yaml'), 0o444);
    writeFileSync(join(p.root, 'in/a'), 'b');
    const { code, stderr } = await sluice('run', 'p.yaml');
    expect([code, p.runs('c')]).toEqual([1, 1]);
    expect(stderr).toMatch(/cannot write the lock file .* is read-only for this user/);
  });
});
