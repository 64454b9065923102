// `sluice doctor`: the real program on good and bad places, and what it makes of facts that no test can bring about.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aheadOf, isSteady, judgeClock } from '../../cli/doctor/clock.ts';
import { judgeRoom } from '../../cli/doctor/disk.ts';
import type { Finding } from '../../cli/doctor/finding.ts';
import { judgeInotify } from '../../cli/doctor/inotify.ts';
import { checkNode } from '../../cli/doctor/programs.ts';
import { runSluice } from '../rig/cli.ts';
import { project } from '../rig/project.ts';
import { startUp, until } from '../rig/up.ts';

const COPY =
  'stages:\n  copy_{x}:\n    cmd: cat {{input}} > {{output}}\n    deps: ["in/{d}/{x}.txt"]\n    outs: ["out/{d}/{x}.txt"]\n';

interface Report {
  readonly healthy: boolean;
  readonly checks: readonly Finding[];
}

const copying = () =>
  project({ 'p.yaml': COPY.replace('copy_{x}', 'copy_{d}_{x}'), 'in/a/x.txt': 'x', 'in/b/y.txt': 'y' });

async function doctor(rig: ReturnType<typeof project>, ...args: string[]) {
  const { code, stdout, stderr } = await rig.sluice('doctor', '--json', ...args);
  const { healthy, checks } = JSON.parse(stdout) as Report;
  return {
    code,
    stderr,
    healthy,
    checks,
    of: (name: string) => checks.filter(({ check }) => check === name),
  };
}

describe('doctor', () => {
  test('finds a good place good, and makes nothing there', async () => {
    const rig = copying();
    const { code, stdout } = await rig.sluice('doctor');
    expect(code).toBe(0);
    for (const check of ['node', 'hashing', 'shell', 'disk', 'workflows', 'database', 'clock'])
      expect(stdout).toMatch(new RegExp(`^ok +${check} `, 'm'));
    expect(rig.has('.sluice')).toBe(false);
  });

  test.skipIf(process.platform !== 'linux')(
    'counts the directories that up really watches, and finds them in use there',
    async () => {
      const rig = copying();
      const before = await doctor(rig);
      const needed = Number(/need (\d+)/.exec(before.of('inotify')[0]!.fact)![1]);
      // in, in/a, in/b, and the project, where out/ will appear.
      expect(needed).toBeGreaterThanOrEqual(4);
      const up = await startUp(rig.root);
      await until(() => rig.has('out/b/y.txt'));
      const { code, of } = await doctor(rig);
      expect(code).toBe(0);
      expect(of('owner')[0]!.fact).toContain(up.url);
      expect(of('api')).toMatchObject([{ status: 'ok', fact: expect.stringContaining(up.url) }]);
      expect(of('token')).toMatchObject([{ status: 'ok', fact: expect.stringContaining('may admin') }]);
      expect(of('clock')[0]!.fact).toContain('as on the control plane');
      expect(Number(/^(\d+) of/.exec(of('inotify')[0]!.fact)![1])).toBeGreaterThanOrEqual(needed);
    },
  );

  test('tells a damaged database, a workflow that does not load and a missing shell, each with a remedy', async () => {
    const rig = copying();
    await rig.run();
    const bytes = Buffer.from(rig.read('.sluice/state.db'), 'latin1');
    writeFileSync(join(rig.root, '.sluice/state.db'), bytes.fill('garbage', 0, 20_000));
    rig.write('bad.yaml', 'stages: {a: {cmdd: x}}\n');
    const { code, stdout } = await runSluice(['doctor', '--json'], {
      cwd: rig.root,
      env: { PATH: '/nowhere' },
    });
    const { healthy, checks } = JSON.parse(stdout) as Report;
    expect({ code, healthy }).toEqual({ code: 1, healthy: false });
    expect(checks.filter(({ status }) => status === 'fail')).toMatchObject([
      { check: 'shell', next: expect.stringContaining('PATH') },
      { check: 'workflows', fact: expect.stringContaining('bad.yaml'), next: 'sluice validate bad.yaml' },
      { check: 'database', next: expect.stringContaining('.damaged') },
    ]);
    expect(checks.find(({ check }) => check === 'git')).toMatchObject({ status: 'warn' });
  });

  test('tells whether git leaves our own folder alone', async () => {
    const rig = copying();
    spawnSync('git', ['init', '-q', rig.root]);
    expect((await doctor(rig)).of('git')).toMatchObject([
      { status: 'warn', next: expect.stringContaining('.gitignore') },
    ]);
    rig.write('.gitignore', '.sluice/\n');
    expect((await doctor(rig)).of('git')).toMatchObject([{ status: 'ok' }]);
  });

  test('asks a control plane elsewhere what the token may do there, and what is wrong with it', async () => {
    const rig = copying();
    const up = await startUp(rig.root);
    const limits = ['--scope', 'watch', '--scope', 'work', '--target', 'gpu'];
    rig.write('box.token', (await rig.sluice('token', 'create', 'box', ...limits)).stdout);
    rig.write('wrong.token', `sluice_${'x'.repeat(43)}\n`);
    const elsewhere = project({});
    const token = (name: string) => ['--api', up.url, '--token-file', join(rig.root, name)];
    const good = await doctor(elsewhere, ...token('box.token'));
    expect(good.of('token')).toMatchObject([
      { status: 'ok', fact: "'box' may watch, work, only target gpu" },
    ]);
    const wrong = await doctor(elsewhere, ...token('wrong.token'));
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.of('token')).toMatchObject([{ status: 'fail', next: expect.stringContaining('token') }]);
    const none = await doctor(elsewhere, '--api', up.url);
    expect(none.of('token')).toMatchObject([{ status: 'fail', fact: expect.stringContaining('no token') }]);
    expect(await doctor(elsewhere, '--api', 'http://127.0.0.1:1')).toMatchObject({ code: 1 });
  });

  test('says so where something else answers', async () => {
    const other = createServer((_, answer) => void answer.end('hello'));
    await new Promise<void>((done) => void other.listen(0, '127.0.0.1', done));
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, of } = await doctor(project({}), '--api', url);
    expect(code).toBe(1);
    expect(of('api')).toMatchObject([{ fact: expect.stringContaining('is not a control plane of sluice') }]);
  });

  test('tells a place that cannot be written', async () => {
    const rig = copying();
    chmodSync(rig.root, 0o555);
    onTestFinished(() => chmodSync(rig.root, 0o755));
    // Root may write everywhere, so as root the program runs as another user.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    const { code, stdout } = await runSluice(['doctor', '--json'], { cwd: rig.root, uid });
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string }[] };
    expect(checks.filter(({ check }) => check === 'disk')).toMatchObject([{ status: 'fail' }]);
  });

  test.each([
    ['a place that is not there', ['nowhere'], 'nowhere does not exist'],
    ['a token file that is not there', ['--api', 'http://127.0.0.1:1', '--token-file', 'gone'], 'gone'],
  ])('%s is refused with the next step', async (_, args, said) => {
    const rig = copying();
    mkdirSync(join(rig.root, 'x'));
    const { code, stdout, stderr } = await rig.sluice('doctor', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).toContain('→');
  });
});

const statuses = (findings: readonly Finding[]) => findings.map(({ status }) => status);

describe('the limits of inotify', () => {
  const roomy = { maxWatches: 1_000, maxInstances: 128, usedWatches: 100, usedInstances: 3 };
  test.each([
    ['enough', { ...roomy, neededWatches: 400 }, ['ok', 'ok']],
    ['just enough', { ...roomy, neededWatches: 500 }, ['warn', 'ok']],
    ['too few watches', { ...roomy, neededWatches: 901 }, ['fail', 'ok']],
    [
      'too few, but in use by who keeps the workflows',
      { ...roomy, usedWatches: 950, neededWatches: 300, isKept: true },
      ['warn', 'ok'],
    ],
    ['more in use than there are', { ...roomy, usedWatches: 2_000, neededWatches: 1 }, ['fail', 'ok']],
    ['too few instances', { ...roomy, usedInstances: 128, neededWatches: 1 }, ['ok', 'fail']],
  ])('%s', (_, facts, expected) => {
    const found = judgeInotify({ isKept: false, ...facts });
    expect(statuses(found)).toEqual(expected);
    for (const { status, next } of found)
      if (status !== 'ok') expect(next).toMatch(/sudo sysctl fs\.inotify\.max_user_(watches|instances)=\d+/);
  });
});

describe('the clock', () => {
  const good = { nowMs: Date.UTC(2026, 10, 18), wentMs: 100, steadyMs: 100, isSteady: true, aheadMs: null };
  test.each([
    ['goes well', good, 'ok'],
    ['agrees with the control plane', { ...good, aheadMs: 0 }, 'ok'],
    ['is a little behind', { ...good, aheadMs: 5_000 }, 'warn'],
    ['is far ahead', { ...good, aheadMs: -3_600_000 }, 'fail'],
    ['was set meanwhile', { ...good, wentMs: 60_000 }, 'warn'],
    ['was never set', { ...good, nowMs: 0 }, 'fail'],
    ['goes backwards', { ...good, isSteady: false }, 'fail'],
  ])('that %s', (_, facts, status) => {
    expect(judgeClock(facts).status).toBe(status);
  });

  test('is compared as exactly as a Date header allows', () => {
    const date = 'Wed, 18 Nov 2026 12:00:00 GMT';
    const at = Date.UTC(2026, 10, 18, 12);
    const asked = (askedMs: number, answeredMs: number) => aheadOf(date, { askedMs, answeredMs });
    expect(asked(at + 900, at + 950)).toBe(0);
    expect(asked(at - 200, at + 100)).toBe(0);
    expect(asked(at - 5_000, at - 4_900)).toBe(4_900);
    expect(asked(at + 9_000, at + 9_100)).toBe(-8_000);
    expect(aheadOf(null, { askedMs: 0, answeredMs: 1 })).toBeNull();
    expect(aheadOf('soon', { askedMs: 0, answeredMs: 1 })).toBeNull();
  });

  test('is steady if it never goes back', () => {
    let now = 0;
    expect(isSteady(() => now++)).toBe(true);
    expect(isSteady(() => now--)).toBe(false);
  });
});

test.each([
  ['enough', {}, ['ok']],
  ['little', { bavail: 500_000 }, ['warn']],
  ['next to nothing', { bavail: 50_000 }, ['fail']],
  ['few inodes', { files: 1_000_000, ffree: 12 }, ['warn']],
  ['a file system that tells nothing', { type: 0x6969 }, ['ok', 'warn']],
])('room on disk: %s', (_, facts, expected) => {
  const room = { type: 0xef53, bsize: 1_000, blocks: 1e8, bavail: 1e7, files: 0, ffree: 0, ...facts };
  expect(statuses(judgeRoom('/x', room))).toEqual(expected);
});

test.each([
  ['20.18.3', 'fail'],
  ['20.19.0', 'ok'],
  ['22.1.0', 'ok'],
  ['18.20.0', 'fail'],
])('Node %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});
