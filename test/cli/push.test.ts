// `sluice push`: workflows registered on a control plane, by URL, on the owner of the project, or in its own process.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
import { startServe } from '../rig/serve.ts';

const copy = (from: string, to: string, more = '') =>
  `stages:\n  copy:\n    deps: [{path: '${from}'}]\n    outs: [{path: '${to}'}]\n    cmd: cp {{input}} {{output}}${more}\n`;

interface Listed {
  readonly workflows: readonly {
    readonly workflow: string;
    readonly status: string;
    readonly definition: string;
    readonly root: string;
    readonly target: string;
    readonly changes: { readonly changed: readonly { stage: string; reasons: string[] }[] };
    readonly warnings: readonly string[];
  }[];
}

async function served(files: Readonly<Record<string, string>>) {
  const plane = temporaryFolder({ '.git/HEAD': '' });
  const server = await startServe(plane);
  const cwd = temporaryFolder(files);
  const way = ['--api', server.url, '--token-file', join(plane, '.sluice', 'admin-token')];
  return {
    cwd,
    server,
    push: (...args: string[]) => runSluice(['push', ...args, ...way], { cwd }),
    registered: async () =>
      (await (await server.ask('/api/workflows')).json()) as { name: string; definition: string }[],
  };
}

describe('push', () => {
  test('tells new, unchanged and changed apart, with the hash that a runner is to allow', async () => {
    const { cwd, push, registered } = await served({ 'a.yaml': copy('in.txt', 'out.txt') });
    const first = await push('a.yaml');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const { definition } = (await registered())[0]!;
    expect(first.stdout).toMatch(new RegExp(`^new +a@${definition} +${cwd} on local\\n$`));
    expect((await push('a.yaml')).stdout).toMatch(new RegExp(`^unchanged +a@${definition}\\n$`));
    writeFileSync(join(cwd, 'a.yaml'), copy('in.txt', 'out.txt', ' && true'));
    const changed = await push('a.yaml', '--json');
    const [told] = (JSON.parse(changed.stdout) as Listed).workflows;
    expect(told).toMatchObject({
      ...{ workflow: 'a', status: 'changed', root: cwd, target: 'local', warnings: [] },
      changes: { changed: [{ stage: 'copy', reasons: [expect.stringContaining('cmd')] }] },
    });
    expect(told!.definition).not.toBe(definition);
  });

  test('registers nothing if one file is wrong, and tells every mistake', async () => {
    const { push, registered } = await served({
      'a.yaml': copy('in.txt', 'out.txt'),
      'b.yaml': 'stages: {x: {cmd: true, oust: []}}',
      'c.yaml': 'stages: 3',
    });
    const { code, stdout, stderr } = await push('a.yaml', 'b.yaml', 'c.yaml', 'gone.yaml');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/b\.yaml:1:\d+/);
    expect(stderr).toMatch(/gone\.yaml does not exist/);
    expect(stderr).toMatch(/3 of 4 files are no valid workflow; nothing was registered/);
    expect(await registered()).toEqual([]);
  });

  test('finds a loop through what is registered before it sends anything', async () => {
    const { push, registered } = await served({
      'a.yaml': copy('1.txt', '2.txt'),
      'b.yaml': copy('2.txt', '3.txt'),
      'c.yaml': copy('3.txt', '1.txt'),
    });
    expect((await push('b.yaml')).code).toBe(0);
    const { code, stderr } = await push('a.yaml', 'c.yaml');
    expect(code).toBe(1);
    expect(stderr).toMatch(/wait for each other: .*a#copy.*; nothing was registered/);
    expect((await registered()).map(({ name }) => name)).toEqual(['b']);
  });

  test('shows what the control plane warns of: two possible writers of one path', async () => {
    const { push } = await served({
      'a.yaml': copy('in.txt', 'out/other.txt'),
      'b.yaml': copy('other.txt', 'out/other.txt'),
    });
    const { code, stderr } = await push('a.yaml', 'b.yaml');
    expect(code).toBe(0);
    expect(stderr).toMatch(/b\.yaml: warning: a#copy and b#copy may both write .*out\/other\.txt/);
  });

  test('takes root, target and params from the command line, each workflow those that it has', async () => {
    const { push } = await served({
      'a.yaml': `params: {size: 1}\n${copy('in.txt', 'out.txt', ' {{params.size}}')}`,
      'b.yaml': copy('in.txt', 'b.txt'),
    });
    const where = ['--root', '/srv/files', '--target', 'studio', '--json'];
    const result = await push('a.yaml', 'b.yaml', '--set', 'size=2', ...where);
    const { workflows } = JSON.parse(result.stdout) as Listed;
    expect(workflows.map(({ root, target }) => [root, target])).toEqual([
      ['/srv/files', 'studio'],
      ['/srv/files', 'studio'],
    ]);
    const again = await push('a.yaml', '--set', 'size=3', ...where);
    expect((JSON.parse(again.stdout) as Listed).workflows[0]!.changes.changed[0]!.reasons[0]).toMatch(
      /2 → 3/,
    );
    const wrong = await push('a.yaml', '--set', 'sise=3', ...where);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/no.* such a param.*\n.*size/) });
  });

  test('takes a hundred files at once', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `w${i}.yaml`);
    const files = Object.fromEntries(names.map((name, i) => [name, copy(`in${i}.txt`, `out${i}.txt`)]));
    const { push, registered } = await served(files);
    const { code, stdout } = await push(...names);
    expect(code).toBe(0);
    expect(stdout.match(/^new /gm)).toHaveLength(100);
    expect(await registered()).toHaveLength(100);
  });

  test('without a URL goes to the owner of the project, or to its database', async () => {
    const cwd = temporaryFolder({ '.git/HEAD': '', 'w/a.yaml': copy('in.txt', 'out.txt') });
    const alone = await runSluice(['push', 'w/a.yaml'], { cwd });
    expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^new /) });
    const server = await startServe(cwd);
    const owned = await runSluice(['push', 'w/a.yaml'], { cwd });
    expect(owned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^unchanged /) });
    expect(await (await server.ask('/api/workflows')).json()).toMatchObject([
      { name: 'a', root: join(cwd, 'w') },
    ]);
  });

  test('refuses two files of one name, and files of two projects', async () => {
    const text = copy('in.txt', 'out.txt');
    const cwd = temporaryFolder({
      'a/.git/HEAD': '',
      'a/w.yaml': text,
      'b/.git/HEAD': '',
      'b/v.yaml': text,
      'b/w.yaml': text,
    });
    const same = await runSluice(['push', 'a/w.yaml', 'b/w.yaml'], { cwd });
    expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining("are both called 'w'") });
    const far = await runSluice(['push', 'a/w.yaml', 'b/v.yaml'], { cwd });
    expect(far).toMatchObject({ code: 1, stderr: expect.stringContaining('different projects') });
  });

  test('says so where a token may not, or what answers is no control plane', async () => {
    const { cwd, server } = await served({ 'a.yaml': copy('in.txt', 'out.txt') });
    const body = JSON.stringify({ name: 'reader', scopes: ['read'] });
    const headers = { 'Content-Type': 'application/json' };
    const made = await server.ask('/api/tokens', { method: 'POST', body, headers });
    const env = { SLUICE_TOKEN: ((await made.json()) as { token: string }).token };
    const refused = await runSluice(['push', 'a.yaml', '--api', server.url], { cwd, env });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/admin/) });
    const other = createServer(
      (_, answer) => void answer.setHeader('Content-Type', 'text/html').end('<h1>hi</h1>'),
    );
    await new Promise<void>((done) => void other.listen(0, '127.0.0.1', done));
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const stranger = await runSluice(['push', 'a.yaml', '--api', url], { cwd });
    expect(stranger).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not a control plane of sluice.*text\/html/),
    });
  });
});
