// Two machines in shape: the control plane in workerd on sqld, and a runner for each of two targets, all of them
// processes of their own that speak HTTP. The two targets are two folders that know nothing of each other.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { type Shape, startInWorkerd } from '../rig/control-plane-shapes.ts';
import { until } from '../rig/up.ts';
import { type Ask, drop, post, register, startWork, states, tell } from '../rig/work.ts';

let plane: Shape;

beforeAll(async () => {
  plane = await startInWorkerd();
}, 60_000);

afterAll(async () => {
  await plane?.stop();
});

const CLEAN = `
stages:
  clean_{name}:
    cmd: tr -d '\\r' < {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{name}.txt"]
    outs: ["clean/{name}.txt"]
`;
/** Where the far machine's folder is only the test knows: a real one would say `scp` or `rsync`. */
const SEND = `
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
stages:
  count_{name}:
    cmd: wc -c < {{deps[0].path}} > {{outs[0].path}}
    deps: ["arrived/{name}.txt"]
    outs: ["count/{name}.txt"]
`;

async function tokenFor(ask: Ask, target: string): Promise<string> {
  const made = await post(ask, '/api/tokens', { name: target, scopes: ['work'], target });
  return (made as { token: string }).token;
}

test('a file flows through two workflows on one machine and, by a remote out, into a third on another', async () => {
  const ask: Ask = (path, init) => plane.fetch(path, init);
  const [near, far] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(far, 'arrived'));
  await register(ask, 'clean', { source: CLEAN, root: '/srv/near', target: 'near' });
  await register(ask, 'send', {
    source: SEND.replaceAll('$FAR', join(far, 'arrived')),
    root: '/srv/near',
    target: 'near',
  });
  await register(ask, 'count', { source: COUNT, root: '/srv/far', target: 'far' });
  const work = async (target: string, root: string) =>
    startWork(
      { cwd: temporaryFolder(), url: plane.url!, token: await tokenFor(ask, target) },
      ...['--target', target, '--root', root, '--cores', '2'],
    );
  await Promise.all([work('near', near), work('far', far)]);
  const flow = async (content: string) => {
    await drop(ask, join(near, 'in/a.txt'), content, { target: 'near', at: '/srv/near/in/a.txt' });
    const arrived = join(far, 'arrived/a.txt');
    const loud = content.replace('\r', '').toUpperCase();
    await until(() => existsSync(arrived) && readFileSync(arrived, 'utf8') === loud);
    await until(async () => (await states(ask, 'send')).every(({ status }) => status === 'fresh'));
    await tell(ask, arrived, { target: 'far', at: '/srv/far/arrived/a.txt' });
    const count = join(far, 'count/a.txt');
    await until(() => existsSync(count) && readFileSync(count, 'utf8').trim() === String(loud.length));
    await until(async () => (await states(ask, 'count')).every(({ status }) => status === 'fresh'));
    const all = await Promise.all(['clean', 'send', 'count'].map((name) => states(ask, name)));
    expect(all.flat().map(({ status }) => status)).toEqual(['fresh', 'fresh', 'fresh', 'fresh']);
  };
  await flow('quiet\r\n');
  await flow('another, longer\r\n');
  expect(existsSync(join(near, 'count'))).toBe(false);
  expect(existsSync(join(far, 'clean'))).toBe(false);
}, 120_000);
