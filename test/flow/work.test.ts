// A control plane and a runner as processes of their own; the test says what a watcher would.

import { once } from 'node:events';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
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

test(
  'only the definition that is allowed is run, and its params are those that were set',
  LIMIT,
  async () => {
    const rig = await serving();
    const source = `
params: {word: file}
stages:
  say_{name}:
    cmd: echo {{params.word}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["said/{name}.txt"]
`;
    await register(rig.ask, 'copy', { source: COPY, root: rig.files });
    const query = new URLSearchParams({ root: rig.files, set: '{"word":"set"}' });
    const put = await rig.ask(`/api/workflows/say?${query}`, { method: 'PUT', body: source });
    const { definition } = (await put.json()) as { definition: string };
    await drop(rig.ask, rig.at('in/a.txt'), 'one\n');
    const work = await rig.work('--allow', `say@${definition}`);
    await until(() => rig.has('said/a.txt'));
    expect(rig.read('said/a.txt')).toBe('set\n');
    expect(work.stderr()).toContain('only say@');
    await until(async () => (await states(rig.ask, 'say')).every(({ status }) => status === 'fresh'));
    expect(rig.runs('copy')).toBe(0);
    expect(await states(rig.ask, 'copy')).toMatchObject([{ status: 'stale' }]);
  },
);

test('a hundred workflows at once are worked on by one runner', LIMIT, async () => {
  const rig = await serving();
  const names = Array.from({ length: 100 }, (_, i) => `w${i}`);
  for (const name of names)
    await register(rig.ask, name, { source: COPY.replace('out/', `out/${name}-`), root: rig.files });
  await drop(rig.ask, rig.at('in/a.txt'), 'one\n');
  await rig.work();
  const areDone = async () => {
    const all = await Promise.all(names.map((name) => states(rig.ask, name)));
    return all.flat().every(({ status }) => status === 'fresh');
  };
  await until(() => rig.runs('copy') >= 100);
  await until(areDone);
  expect(rig.runs('copy')).toBe(100);
});

test('a state whose secret is missing here fails by name, and others are made', LIMIT, async () => {
  const rig = await serving();
  await register(rig.ask, 'q', { source: COPY, root: rig.files });
  const secret = COPY.replace('stages:', 'secrets: [KEY]\nstages:').replace(
    'outs:',
    'secrets: [KEY]\n    outs:',
  );
  await register(rig.ask, 's', { source: secret.replaceAll('out/', 'secret/'), root: rig.files });
  await drop(rig.ask, rig.at('in/a.txt'), 'one\n');
  await rig.work();
  await until(() => rig.has('out/a.txt'));
  const error = async () => (await states(rig.ask, 's'))[0]?.error ?? '';
  await until(async () => (await error()) !== '');
  expect(await error()).toContain('the secret KEY is not set');
});

test(
  'states whose root is away wait for it, whoever works on others, and that is told once',
  LIMIT,
  async () => {
    const rig = await serving();
    const [root, aside] = [rig.at('disk'), rig.at('unplugged')];
    await register(rig.ask, 'p', { source: COPY, root });
    await register(rig.ask, 'q', { source: COPY, root: rig.files });
    const work = await rig.work();
    const told = (text: string) => work.stderr().split(text).length - 1;
    for (const name of ['a', 'b']) {
      const file = join(aside, `in/${name}.txt`);
      await drop(rig.ask, file, `${name}\n`, { at: join(root, `in/${name}.txt`) });
      await until(() => told(`${root}: it is away`) === (name === 'a' ? 1 : 2));
      await drop(rig.ask, rig.at(`in/${name}.txt`), `${name}\n`);
      await until(() => rig.has(`out/${name}.txt`));
      expect((await states(rig.ask, 'p')).find(({ entity }) => entity === name)).toMatchObject({
        ...{ status: 'stale', error: null },
      });
      const status = await runSluice(['status', '--api', rig.serve.url], {
        env: { SLUICE_TOKEN: adminToken(rig.root) },
      });
      expect(status.stderr).toContain(`cannot work on it: ${root}: it is away`);
      renameSync(aside, root);
      await until(async () => (await states(rig.ask, 'p')).every((each) => each.status === 'fresh'));
      expect(told(`${root} is there`)).toBe(told(`${root}: it is away`));
      const query = new URLSearchParams({ stage: 'copy_{name}', entity: name });
      const attempts = (await (await rig.ask(`/api/workflows/p/attempts?${query}`)).json()) as unknown[];
      expect(attempts.length).toBeLessThan(5);
      renameSync(root, aside);
    }
  },
);

test('a root that goes away under a command makes nothing fail or gone', LIMIT, async () => {
  const rig = await serving();
  const [root, aside] = [rig.at('disk'), rig.at('unplugged')];
  const unplug = `
stages:
  copy_{name}:
    cmd: if [ -e ${aside}.log ]; then cat {{deps[0].path}} > {{outs[0].path}}; else touch ${aside}.log; mv ${root} ${aside}; exit 1; fi
    deps: ["in/{name}.txt"]
    outs: ["out/{name}.txt"]
`;
  await register(rig.ask, 'p', { source: unplug, root });
  for (const name of ['a', 'b', 'c']) await drop(rig.ask, join(root, `in/${name}.txt`), `${name}\n`);
  const work = await rig.work('--cores', '1');
  await until(() => work.stderr().includes(`${root}: it is away`));
  await until(async () => (await states(rig.ask, 'p')).every(({ status }) => status === 'stale'));
  expect((await states(rig.ask, 'p')).map(({ error }) => error)).toEqual([null, null, null]);
  renameSync(aside, root);
  await until(async () => (await states(rig.ask, 'p')).every(({ status }) => status === 'fresh'));
});

test('a workflow whose root is away may be registered where its files are', LIMIT, async () => {
  const rig = await serving();
  await register(rig.ask, 'p', { source: COPY, root: '/nowhere/at/all' });
  await drop(rig.ask, rig.at('in/a.txt'), 'one\n', { at: '/nowhere/at/all/in/a.txt' });
  const work = await rig.work();
  await until(() => work.stderr().includes('sluice work` with --root p=DIR'));
  await register(rig.ask, 'p', { source: COPY, root: rig.files });
  await drop(rig.ask, rig.at('in/a.txt'), 'one\n');
  await until(() => rig.has('out/a.txt'));
});

test('what cannot work is said at the start, with the next step', LIMIT, async () => {
  const rig = await serving();
  const token = adminToken(rig.root);
  const made = await rig.ask('/api/tokens', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'reader', scopes: ['read'] }),
  });
  const reader = ((await made.json()) as { token: string }).token;
  const stranger = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<p>hello'));
  await once(stranger.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void stranger.close());
  const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const ask = (env: string, ...args: string[]) =>
    runSluice(['work', ...args], { env: { SLUICE_TOKEN: env } });
  const cases: [Promise<{ code: number | null; stderr: string }>, RegExp][] = [
    [ask(token), /needs a control plane/],
    [ask(reader, '--api', rig.serve.url), /scope (watch|work)/],
    [ask('sluice_nonsense', '--api', rig.serve.url), /token/],
    [ask(token, '--api', elsewhere), /not a control plane of sluice/],
    [ask(token, '--api', rig.serve.url, '--root', '/nowhere'), /does not exist/],
    [ask(token, '--api', rig.serve.url, '--root', join(rig.root, '.sluice/admin-token')), /not a directory/],
    [ask(token, '--api', rig.serve.url, '--cores', 'many'), /whole number/],
    [ask(token, '--api', rig.serve.url, '--allow', 'p'), /NAME@HASH/],
    [ask(token, '--api', rig.serve.url, '--lease', '2d'), /an hour/],
  ];
  for (const [ended, said] of cases) {
    const { code, stderr } = await ended;
    expect(stderr).toMatch(said);
    expect(stderr).toMatch(/→ \w/);
    expect(code).toBe(1);
  }
  const work = await rig.work('--target', 'gpubox');
  expect(work.stderr()).toContain("no workflow has anything on the target 'gpubox'");
});
