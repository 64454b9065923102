// status, why and log asked of a control plane that runs somewhere else, or that owns the project.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
import { startServe } from '../rig/serve.ts';
import { startUp, until } from '../rig/up.ts';
import { words } from './words.ts';

async function served() {
  const p = words({ '.git/HEAD': '' });
  await p.run();
  p.write('texts/a.txt', 'x y z w\n');
  await p.sluice('status', 'p.yaml');
  const server = await startServe(p.root);
  const tokenFile = join(p.root, '.sluice', 'admin-token');
  return { p, server, reach: ['--api', server.url, '--token-file', tokenFile] };
}

describe('a control plane that is reached with --api', () => {
  test('tells status, why and log from anywhere, by the name of the workflow', async () => {
    const { reach } = await served();
    const ask = (...args: string[]) => runSluice([...args, ...reach], { cwd: temporaryFolder() });
    expect((await ask('status')).stdout).toBe('p  2 fresh, 1 stale\n');
    const status = JSON.parse((await ask('status', 'p', '--json')).stdout);
    expect(status.counts).toMatchObject({ fresh: 2, stale: 1 });
    expect((await ask('why', 'p', 'count_a')).stdout).toMatch(
      /^count_a is stale\n└── deps_hash changed: texts\/a\.txt/,
    );
    expect((await ask('log', 'p')).stdout).toMatch(/ run_started /);
    expect((await ask('status', 'q')).stderr).toContain("there is no workflow 'q'");
  });

  test('is asked for a file by the name that the file has', async () => {
    const { p, reach } = await served();
    expect((await p.sluice('status', 'p.yaml', ...reach)).stdout).toMatch(/count_\{text\} +1 fresh, 1 stale/);
  });

  test('that does not answer, and a token file that is not there, are told with the next step', async () => {
    const cwd = temporaryFolder();
    expect(await runSluice(['status', '--api', 'http://127.0.0.1:9'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no answer from http:\/\/127\.0\.0\.1:9\n.*sluice serve/),
    });
    expect(
      await runSluice(['why', 'p', 'x', '--api', 'http://127.0.0.1:9', '--token-file', 'none'], { cwd }),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot read the token from none') });
  });

  test.each(['', 'foo', '127.0.0.1:8484', 'ftp://127.0.0.1', 'http://'])(
    'has to be an http or https URL, which %j is not',
    async (url) => {
      const asked = await runSluice(['status', `--api=${url}`]);
      expect(asked).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/is not an http or https URL\n.*→/),
      });
    },
  );

  test('shows a token that is limited to a workflow only that, and says so of another', async () => {
    const { p, server } = await served();
    const { stdout } = await p.sluice('token', 'create', 'other', '--workflow', 'elsewhere');
    const ask = (...args: string[]) =>
      runSluice([...args, '--api', `${server.url}/`], { env: { SLUICE_TOKEN: stdout.trim() } });
    expect(await ask('status')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('p ') });
    expect(await ask('status', 'p')).toMatchObject({ code: 1, stderr: expect.stringMatching(/elsewhere/) });
  });

  test('refuses who has no token', async () => {
    const { server } = await served();
    expect(await runSluice(['status', '--api', server.url])).toMatchObject({ code: 1 });
  });
});

test('while a server owns the project, status and why ask it, and change nothing on disk', async () => {
  const { p } = await served();
  const reported = () => readFileSync(join(p.root, '.sluice', 'reported', 'p.yaml'), 'utf8');
  const before = reported();
  expect((await p.sluice('status', 'p.yaml')).stdout).toMatch(/stale +count_a/);
  expect((await p.sluice('why', 'p.yaml', 'sum')).stdout).toMatch(/^sum is fresh, but/);
  expect(await p.sluice('run', 'p.yaml', '--dry-run')).toMatchObject({ code: 4 });
  expect(await p.sluice('lock', 'p.yaml')).toMatchObject({ code: 4 });
  expect(reported()).toBe(before);
});

test('while up keeps the project, status, why and log ask it, and say what can be typed there', async () => {
  const p = words({ '.git/HEAD': '', 'q.yaml': FAILING });
  const up = await startUp(p.root);
  await until(async () => (await p.sluice('status', 'q.yaml')).stdout.includes('exhausted'));
  const { stdout } = await p.sluice('status', 'q.yaml');
  expect(stdout).toMatch(/1 of 1 not settled; to try again now: sluice retry q\.yaml bad\n$/);
  await until(async () => /^p +3 fresh\nq +1 exhausted\n$/.test((await p.sluice('status')).stdout));
  expect((await p.sluice('why', 'q.yaml', 'bad')).stdout).toContain('exit code 3');
  expect((await p.sluice('log', 'q')).stdout).toMatch(/ stage_failed +bad /);
  expect(await up.stop()).toBe(0);
  // Nobody keeps it any more: the project's own database is looked into.
  expect((await p.sluice('log', 'q')).stdout).toMatch(/ stage_failed +bad /);
});

const FAILING = 'stages:\n  bad: {cmd: exit 3, outs: [bad.txt], retry: {limit: 0}}\n';
