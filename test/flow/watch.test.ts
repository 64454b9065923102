// `sluice watch` in a process of its own, for a real `sluice serve`: what it sees is known there.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
import { type Daemon, startDaemon } from '../rig/daemon.ts';
import { startServe } from '../rig/serve.ts';
import { until } from '../rig/up.ts';

const COPY = `
watch: {settle: 50ms}
stages:
  copy_{name}:
    cmd: cat {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["out/{name}.txt"]
`;
const LIMIT = { timeout: 30_000 };
/** Should an event be lost under load, the look at everything finds it within a minute. */
const PATIENT = { timeout: 120_000 };
const READY = /^watching /m;

async function served(files: Readonly<Record<string, string>> = {}) {
  const plane = temporaryFolder({ '.git/HEAD': '' });
  const server = await startServe(plane);
  const admin = join(plane, '.sluice', 'admin-token');
  const place = temporaryFolder({ 'p.yaml': COPY, ...files });
  const way = ['--api', server.url, '--token-file', admin];
  await runSluice(['push', 'p.yaml', ...way], { cwd: place });
  return {
    ...{ plane, place, server, admin, way },
    write: (name: string, text: string) => {
      mkdirSync(join(place, name, '..'), { recursive: true });
      writeFileSync(join(place, name), text);
    },
    watch: (...args: string[]): Promise<Daemon> =>
      startDaemon(place, ['watch', ...way, '--state', join(plane, 'watch-state'), ...args], READY),
    refused: (...args: string[]) => runSluice(['watch', ...way, ...args], { cwd: place }),
    known: async (of = server) => {
      const answer = await of.ask('/api/workflows/p/states?limit=1000');
      const states = (await answer.json()) as { entity: string; status: string }[];
      return states
        .filter(({ status }) => status !== 'orphan')
        .map(({ entity }) => entity)
        .sort();
    },
    machines: async (of = server) => (await (await of.ask('/api/machines')).json()) as Machine[],
  };
}

interface Machine {
  readonly name: string;
  readonly facts: { readonly roots: { state: string; problem: string | null }[] };
}

test('what is there, what is dropped and what goes is known to the control plane', LIMIT, async () => {
  const rig = await served({ 'in/a.txt': 'a' });
  const daemon = await rig.watch();
  expect(await rig.known()).toEqual(['a']);
  rig.write('in/b.txt', 'b');
  await until(async () => (await rig.known()).join() === 'a,b');
  expect((await rig.machines())[0]?.facts.roots).toMatchObject([{ workflow: 'p', state: 'watched' }]);
  expect(await daemon.stop()).toBe(0);
});

test('the files may be in another place than where the workflow was registered', LIMIT, async () => {
  const rig = await served();
  const here = temporaryFolder({ 'in/x.txt': 'x' });
  await rig.watch('--root', `p=${here}`);
  writeFileSync(join(here, 'in/y.txt'), 'y');
  await until(async () => (await rig.known()).join() === 'x,y');
});

test('a definition that is pushed while it runs is followed', LIMIT, async () => {
  const rig = await served({ 'in/a.txt': 'a', 'new/z.txt': 'z' });
  await rig.watch();
  rig.write('p.yaml', COPY.replace('in/{name}', 'new/{name}'));
  await runSluice(['push', 'p.yaml', ...rig.way], { cwd: rig.place });
  await until(async () => (await rig.known()).includes('z'));
});

test(
  'what happens while the control plane is away is told when it is back, and all of it to another database',
  LIMIT,
  async () => {
    const rig = await served({ 'in/a.txt': 'a' });
    const daemon = await rig.watch();
    const port = new URL(rig.server.url).port;
    await rig.server.stop();
    rig.write('in/b.txt', 'b');
    await daemon.said('is told when the control plane is back');
    rig.write('in/c.txt', 'c');
    rmSync(join(rig.place, 'in/a.txt'));
    const again = await startServe(rig.plane, '--port', port);
    await until(async () => (await rig.known(again)).join() === 'b,c');
    await again.stop();
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(rig.plane, `.sluice/state.db${end}`), { force: true });
    rmSync(rig.admin);
    const other = await startServe(rig.plane, '--port', port);
    // The token of the new database is another: the watcher is started again with it.
    await daemon.stop();
    await runSluice(['push', 'p.yaml', ...rig.way], { cwd: rig.place });
    await rig.watch();
    await until(async () => (await rig.known(other)).join() === 'b,c');
  },
);

test('killed at any time, it tells what changed since when it is started again', LIMIT, async () => {
  const rig = await served({ 'in/a.txt': 'a' });
  const daemon = await rig.watch();
  await daemon.stop('SIGKILL');
  rig.write('in/b.txt', 'b');
  rmSync(join(rig.place, 'in/a.txt'));
  await rig.watch();
  expect(await rig.known()).toEqual(['b']);
});

test(
  'a root that goes away is told, its files are not called gone, and the other is looked at',
  PATIENT,
  async () => {
    const rig = await served({ 'in/a.txt': 'a' });
    const other = temporaryFolder({ 'q.yaml': COPY });
    await runSluice(['push', 'q.yaml', ...rig.way], { cwd: other });
    const daemon = await rig.watch();
    renameSync(rig.place, `${rig.place}-away`);
    onTestFinished(() => rmSync(`${rig.place}-away`, { recursive: true, force: true }));
    await daemon.said(`${rig.place}: it is away`);
    await until(async () => (await rig.machines())[0]!.facts.roots[0]!.state === 'troubled');
    mkdirSync(join(other, 'in'));
    writeFileSync(join(other, 'in/b.txt'), 'b');
    await until(async () => {
      const answer = await rig.server.ask('/api/workflows/q/states');
      return ((await answer.json()) as unknown[]).length === 1;
    });
    expect(await rig.known()).toEqual(['a']);
    const status = await runSluice(['status', ...rig.way]);
    expect(status.stderr).toContain('it is away');
    renameSync(`${rig.place}-away`, rig.place);
    rig.write('in/c.txt', 'c');
    await until(async () => (await rig.known()).join() === 'a,c');
  },
);

test.each([
  ['a root that does not exist', ['--root', 'nowhere'], 'nowhere does not exist'],
  ['a root that is a file', ['--root', 'p.yaml'], 'p.yaml is not a directory'],
  ['a target that nothing is on', ['--target', 'moon'], 'has anything on the target moon'],
  ['a workflow that is not there', ['--root', 'q=.'], 'names the workflow q'],
])('%s is refused with the fact and the next step', LIMIT, async (_, args, said) => {
  const rig = await served();
  const { code, stderr } = await rig.refused(...args);
  expect(code).toBe(1);
  expect(stderr).toContain(said);
  expect(stderr).toContain('→');
});

test('a token without the scope, a stranger, and no control plane at all are told', LIMIT, async () => {
  const rig = await served();
  const made = await runSluice(['token', 'create', 'reader', '--scope', 'read', ...rig.way], {
    cwd: rig.place,
  });
  const weak = join(rig.place, 'weak');
  writeFileSync(weak, made.stdout.trim());
  const scope = await runSluice(['watch', '--api', rig.server.url, '--token-file', weak], { cwd: rig.place });
  expect([scope.code, scope.stderr]).toEqual([1, expect.stringContaining('watch')]);
  const stranger = createServer((_, response) => response.end('hello'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void stranger.close());
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const strange = await runSluice(['watch', '--api', url], { cwd: rig.place });
  expect([strange.code, strange.stderr]).toEqual([1, expect.stringContaining('not a control plane')]);
  const alone = await runSluice(['watch'], { cwd: rig.place });
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining('--api')]);
});
