// Runners and control planes that are killed, stopped and lost sight of: every state ends fresh, no result counts
// twice, nothing of a command stays behind.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import { type Listening, listen } from '../../api/node.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { adminToken as adminTokenIn, openEmbeddedParts } from '../rig/control-plane-shapes.ts';
import { commandsUnder } from '../rig/processes.ts';
import { startServe } from '../rig/serve.ts';
import { until } from '../rig/up.ts';
import { type Ask, adminToken, drop, post, register, startWork, states } from '../rig/work.ts';

const LIMIT = { timeout: 120_000 };

/** Each command says that it has begun, and ends when it is let go. What it makes names the attempt. */
const GATED = `
stages:
  make_{name}:
    cmd: echo begun-{{entity.name}} >> runs.log; until [ -e "go/{{entity.name}}" ]; do sleep 0.02; done; cat {{deps[0].path}} > {{outs[0].path}}; echo $SLUICE_ATTEMPT >> {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["out/{name}.txt"]
`;

function files() {
  const root = temporaryFolder();
  mkdirSync(join(root, 'go'));
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  return {
    root,
    read,
    at: (name: string) => join(root, name),
    has: (name: string) => existsSync(join(root, name)),
    letGo: (name: string) => writeFileSync(join(root, 'go', name), ''),
    begun: (name: string) =>
      existsSync(join(root, 'runs.log'))
        ? read('runs.log')
            .split('\n')
            .filter((line) => line === `begun-${name}`).length
        : 0,
  };
}

/** A real server whose clock is ours, and that goes away and comes back at the same place. */
async function ownServer() {
  const { parts, clock, close } = await openEmbeddedParts();
  const token = await adminTokenIn(parts.db, clock.ms);
  let server: Listening | null = await listen(createApp(parts), { port: 0, hostname: '127.0.0.1' });
  const { url } = server;
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  onTestFinished(async () => {
    await stop();
    await close();
  });
  const app = createApp(parts);
  const ask: Ask = async (path, init) =>
    app.fetch(
      new Request(`${url}${path}`, {
        ...init,
        headers: { ...init?.headers, Authorization: `Bearer ${token}` },
      }),
    );
  return {
    ...{ url, token, ask, stop },
    start: async () => {
      server = await listen(createApp(parts), { port: Number(new URL(url).port), hostname: '127.0.0.1' });
    },
    /** Of its time, not of ours; whoever claims sees to what has run out. */
    passTime: async (ms: number) => {
      clock.ms += ms;
      await claimElsewhere(ask, 'nobody');
    },
  };
}

async function claimElsewhere(ask: Ask, target: string): Promise<{ token: number }[]> {
  const body = { runner: 'the test', targets: [target], limit: 10 };
  return ((await post(ask, '/api/work/claim', body)) as { items: { token: number }[] }).items;
}

async function allFresh(ask: Ask, workflow: string): Promise<boolean> {
  return (await states(ask, workflow)).every(({ status }) => status === 'fresh');
}

interface Attempt {
  readonly token: number;
  readonly outcome: string | null;
}

async function attempts(ask: Ask, workflow: string, stage: string, entity: string): Promise<Attempt[]> {
  const query = new URLSearchParams({ stage, entity });
  return (await (await ask(`/api/workflows/${workflow}/attempts?${query}`)).json()) as Attempt[];
}

test(
  'a control plane that is killed in the middle of work loses nothing, and nothing is made twice',
  LIMIT,
  async () => {
    const f = files();
    const root = temporaryFolder();
    const serve = await startServe(root);
    await register(serve.ask, 'p', { source: GATED, root: f.root });
    for (const name of ['a', 'b', 'c']) await drop(serve.ask, f.at(`in/${name}.txt`), `${name}\n`);
    const work = await startWork(
      { cwd: temporaryFolder(), url: serve.url, token: adminToken(root) },
      '--cores',
      '2',
    );
    await until(() => f.begun('a') + f.begun('b') === 2);
    await serve.stop('SIGKILL');
    f.letGo('a');
    f.letGo('b');
    await until(() => f.has('out/a.txt') && f.has('out/b.txt') && work.stderr().includes(' is away '));
    const again = await startServe(root, '--port', new URL(serve.url).port);
    f.letGo('c');
    await until(() => allFresh(again.ask, 'p'));
    expect([f.begun('a'), f.begun('b'), f.begun('c')]).toEqual([1, 1, 1]);
    expect(work.stderr().match(/ is away | is back /g)).toEqual([' is away ', ' is back ']);
    expect(await work.stop()).toBe(0);
    expect(commandsUnder(f.root)).toEqual([]);
  },
);

test(
  'a result that is posted an hour later is settled by its record, without running anything',
  LIMIT,
  async () => {
    const f = files();
    const server = await ownServer();
    await register(server.ask, 'p', { source: GATED, root: f.root });
    await drop(server.ask, f.at('in/a.txt'), 'a\n');
    const cwd = temporaryFolder();
    const work = await startWork({ cwd, url: server.url, token: server.token });
    await until(() => f.begun('a') === 1);
    await server.stop();
    f.letGo('a');
    await until(() => f.has('out/a.txt'));
    await server.passTime(3_600_000);
    expect(await states(server.ask, 'p')).toMatchObject([{ status: 'stale' }]);
    await server.start();
    await until(() => allFresh(server.ask, 'p'));
    expect(f.begun('a')).toBe(1);
    expect(work.stderr()).toContain('does not count');
    expect(
      (await attempts(server.ask, 'p', 'make_{name}', 'a')).map(({ outcome }) => outcome).sort(),
    ).toEqual(['lost', 'verified']);
  },
);

test(
  'a lease that the control plane gave to another ends the command at the next heartbeat',
  LIMIT,
  async () => {
    const f = files();
    const server = await ownServer();
    await register(server.ask, 'p', { source: GATED, root: f.root });
    await drop(server.ask, f.at('in/a.txt'), 'a\n');
    await startWork({ cwd: temporaryFolder(), url: server.url, token: server.token }, '--lease', '2s');
    await until(() => f.begun('a') === 1);
    await server.passTime(60_000);
    const [other] = await claimElsewhere(server.ask, 'local');
    await until(() => commandsUnder(f.root).length === 0);
    expect(f.has('out/a.txt')).toBe(false);
    expect(f.begun('a')).toBe(1);
    await post(server.ask, '/api/work/release', { runner: 'the test', tokens: [other!.token] });
    f.letGo('a');
    await until(() => allFresh(server.ask, 'p'));
    expect(f.begun('a')).toBe(2);
  },
);

test('after kill -9 what was finished is posted, what ran is ended and made again', LIMIT, async () => {
  const f = files();
  const server = await ownServer();
  await register(server.ask, 'p', { source: GATED, root: f.root });
  for (const name of ['a', 'b']) await drop(server.ask, f.at(`in/${name}.txt`), `${name}\n`);
  const cwd = temporaryFolder();
  const place = { cwd, url: server.url, token: server.token };
  const work = await startWork(place, '--cores', '2');
  await until(() => f.begun('a') + f.begun('b') === 2);
  await server.stop();
  f.letGo('a');
  const kept = join(cwd, '.sluice/runners/local/results');
  await until(() => readFileSync(kept, 'utf8').includes('"entity":"a"'));
  await work.stop('SIGKILL');
  await until(() => commandsUnder(f.root).length === 0);
  await server.start();
  await startWork(place, '--cores', '2');
  f.letGo('b');
  await until(() => allFresh(server.ask, 'p'));
  expect([f.begun('a'), f.begun('b')]).toEqual([1, 2]);
  await until(() => readFileSync(kept, 'utf8') === '');
});

test('a runner that is stopped past its lease and goes on puts nothing in place', LIMIT, async () => {
  const f = files();
  const root = temporaryFolder();
  const serve = await startServe(root);
  await register(serve.ask, 'p', { source: GATED, root: f.root });
  await drop(serve.ask, f.at('in/a.txt'), 'a\n');
  const place = { url: serve.url, token: adminToken(root) };
  const first = await startWork({ cwd: temporaryFolder(), ...place }, '--lease', '1s');
  await until(() => f.begun('a') > 0);
  first.signal('SIGSTOP');
  const second = await startWork({ cwd: temporaryFolder(), ...place });
  await until(async () =>
    (await attempts(serve.ask, 'p', 'make_{name}', 'a')).some(({ outcome }) => outcome === 'lost'),
  );
  f.letGo('a');
  await until(() => allFresh(serve.ask, 'p'));
  const made = f.read('out/a.txt');
  first.signal('SIGCONT');
  // It takes part again, and by then it has dealt with what it held.
  await second.stop();
  await drop(serve.ask, f.at('in/b.txt'), 'b\n');
  f.letGo('b');
  await until(() => f.has('out/b.txt'));
  const tried = await attempts(serve.ask, 'p', 'make_{name}', 'a');
  const accepted = tried.filter(({ outcome }) => outcome === 'made');
  expect(accepted).toHaveLength(1);
  expect(made).toBe(`a\n${accepted[0]!.token}\n`);
  expect(f.read('out/a.txt')).toBe(made);
  await until(() => allFresh(serve.ask, 'p'));
  expect(await first.stop()).toBe(0);
  expect(commandsUnder(f.root)).toEqual([]);
});

test('the first signal lets what runs end and gives back what waits, the second ends it', LIMIT, async () => {
  const f = files();
  const server = await ownServer();
  await register(server.ask, 'p', { source: GATED, root: f.root });
  for (const name of ['a', 'b', 'c']) await drop(server.ask, f.at(`in/${name}.txt`), `${name}\n`);
  const place = { cwd: temporaryFolder(), url: server.url, token: server.token };
  const work = await startWork(place, '--cores', '1');
  await until(() => f.begun('a') === 1);
  work.signal('SIGTERM');
  await until(
    async () => (await states(server.ask, 'p')).filter(({ status }) => status === 'stale').length === 2,
  );
  f.letGo('a');
  await until(() => work.exitCode() !== null);
  expect(work.exitCode()).toBe(0);
  const words = (await states(server.ask, 'p')).map(({ entity, status }) => `${entity} ${status}`);
  expect(words.sort()).toEqual(['a fresh', 'b stale', 'c stale']);
  const next = await startWork(place, '--cores', '1');
  await until(() => f.begun('b') === 1);
  next.signal('SIGTERM');
  await until(() => next.stderr().includes('once more'));
  next.signal('SIGTERM');
  await until(() => next.exitCode() !== null);
  expect(commandsUnder(f.root)).toEqual([]);
  expect((await states(server.ask, 'p')).filter(({ status }) => status === 'stale')).toHaveLength(2);
});
