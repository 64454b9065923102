// A control plane and a runner as processes of their own; the test says what a watcher would.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { startServe } from '../rig/serve.ts';
import { until } from '../rig/up.ts';
import { adminToken, drop, register, startWork, states } from '../rig/work.ts';

const COPY = `
stages:
  copy_{name}:
    cmd: echo copy >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["out/{name}.txt"]
`;

async function serving() {
  const root = temporaryFolder();
  const serve = await startServe(root);
  const files = temporaryFolder();
  const token = adminToken(root);
  return {
    ...{ root, files, serve, ask: serve.ask },
    at: (name: string) => join(files, name),
    has: (name: string) => existsSync(join(files, name)),
    read: (name: string) => readFileSync(join(files, name), 'utf8'),
    runs: (name: string) =>
      existsSync(join(files, 'runs.log'))
        ? readFileSync(join(files, 'runs.log'), 'utf8')
            .split('\n')
            .filter((line) => line === name).length
        : 0,
    work: (...args: string[]) => startWork({ cwd: temporaryFolder(), url: serve.url, token }, ...args),
  };
}

const LIMIT = { timeout: 60_000 };

test('what is dropped is made by a runner elsewhere, which drains on SIGTERM', LIMIT, async () => {
  const rig = await serving();
  await register(rig.ask, 'p', { source: COPY, root: rig.files });
  await drop(rig.ask, rig.at('in/a.txt'), 'one\n');
  const work = await rig.work();
  await until(() => rig.has('out/a.txt'));
  await drop(rig.ask, rig.at('in/b.txt'), 'two\n');
  await until(async () => (await states(rig.ask, 'p')).every(({ status }) => status === 'fresh'));
  expect(rig.read('out/b.txt')).toBe('two\n');
  expect(rig.runs('copy')).toBe(2);
  expect(await work.stop()).toBe(0);
  expect(work.stderr()).toMatch(/✓ p\/copy_b/);
});
