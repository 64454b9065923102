// Two machines in shape: the control plane in workerd on sqld, and for each of two targets one that looks and one that
// works, all of them processes of their own that speak HTTP. The two targets are two folders that know nothing of each
// other, and elsewhere than where the workflows are registered.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { type Shape, startInWorkerd } from '../rig/control-plane-shapes.ts';
import { startDaemon } from '../rig/daemon.ts';
import { until } from '../rig/up.ts';
import { type Ask, post, register, startWork, states } from '../rig/work.ts';

let plane: Shape;

beforeAll(async () => {
  plane = await startInWorkerd();
}, 60_000);

afterAll(async () => {
  await plane?.stop();
});

const CLEAN = `
watch: {settle: 50ms}
stages:
  clean_{name}:
    cmd: tr -d '\\r' < {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["clean/{name}.txt"]
`;
/** Where the far machine's folder is only the test knows: a real one would say `scp` or `rsync`. */
const SEND = `
watch: {settle: 50ms}
targets: {far: {host: far.example, root: /srv/far}}
stages:
  shout_{name}:
    cmd: tr a-z A-Z < {{deps[0].path}} > {{outs[0].path}}
    deps: ["clean/{name}.txt"]
    outs: ["loud/{name}.txt"]
  send_{name}:
    cmd: cp {{deps[0].path}} $FAR/{{entity.name}}.txt
    deps: ["loud/{name}.txt"]
    outs: [{path: "arrived/{name}.txt", remote: far}]
`;
const COUNT = `
watch: {settle: 50ms}
stages:
  count_{name}:
    cmd: wc -c < {{deps[0].path}} > {{outs[0].path}}
    deps: ["arrived/{name}.txt"]
    outs: ["count/{name}.txt"]
`;

async function tokenFor(ask: Ask, target: string, scope: 'watch' | 'work'): Promise<string> {
  const made = await post(ask, '/api/tokens', { name: `${scope}-${target}`, scopes: [scope], target });
  return (made as { token: string }).token;
}

/** One that looks and one that works there, each with a token for nothing else. */
async function startMachine(ask: Ask, target: string, root: string): Promise<void> {
  const cwd = temporaryFolder({ token: await tokenFor(ask, target, 'watch') });
  const at = ['--target', target, '--root', root];
  const [url, token] = [plane.url!, await tokenFor(ask, target, 'work')];
  await Promise.all([
    startDaemon(cwd, ['watch', '--api', url, '--token-file', 'token', ...at], /^watching /m),
    startWork({ cwd, url, token }, ...at, '--cores', '2'),
  ]);
}

test('a file flows through two workflows on one machine and, by a remote out, into a third on another', async () => {
  const ask: Ask = (path, init) => plane.fetch(path, init);
  const [near, far] = [temporaryFolder(), temporaryFolder()];
  const [dropped, arrived, count] = [
    join(near, 'in/a.txt'),
    join(far, 'arrived/a.txt'),
    join(far, 'count/a.txt'),
  ];
  for (const file of [dropped, arrived]) mkdirSync(dirname(file));
  const send = SEND.replaceAll('$FAR', dirname(arrived));
  await register(ask, 'clean', { source: CLEAN, root: '/srv/near', target: 'near' });
  await register(ask, 'send', { source: send, root: '/srv/near', target: 'near' });
  await register(ask, 'count', { source: COUNT, root: '/srv/far', target: 'far' });
  await Promise.all([startMachine(ask, 'near', near), startMachine(ask, 'far', far)]);
  const holds = (file: string, text: string) =>
    existsSync(file) && readFileSync(file, 'utf8').trim() === text;
  const statuses = async () => {
    const all = await Promise.all(['clean', 'send', 'count'].map((name) => states(ask, name)));
    return all.flat().map(({ status }) => status);
  };
  for (const content of ['quiet\n', 'another, longer\n']) {
    writeFileSync(dropped, content.replace('\n', '\r\n'));
    await until(() => holds(count, String(content.length)));
    await until(async () => (await statuses()).join() === 'fresh,fresh,fresh,fresh');
    expect(readFileSync(arrived, 'utf8')).toBe(content.toUpperCase());
  }
  expect(existsSync(join(near, 'count'))).toBe(false);
  expect(existsSync(join(far, 'clean'))).toBe(false);
}, 120_000);
