// `sluice token`, `rm` and `db`: through the owner of the project, in the command's own process, and by URL.

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import { openDatabase } from '../../api/open-database.ts';
import type { Parts } from '../../api/parts.ts';
import { openEmbedded } from '../../api/store/embedded.ts';
import { migrate } from '../../api/store/migrate.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
import { CHAIN, h } from '../rig/control-plane.ts';
import { ADMIN, startInProcess } from '../rig/control-plane-shapes.ts';
import { startServe } from '../rig/serve.ts';

const project = () => temporaryFolder({ '.git/HEAD': '' });

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly workflow: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

/** Makes, lists and revokes a token, whatever the way. */
async function useTokens(cwd: string, ...way: string[]): Promise<void> {
  const sluice = (...args: string[]) => runSluice([...args, ...way], { cwd });
  const limits = ['--scope', 'watch', '--scope', 'work', '--workflow', 'w', '--expires', '90d'];
  const made = await sluice('token', 'create', 'studio', ...limits);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sluice_[\w-]{43}\n$/) });
  expect(made.stderr).toMatch(/shown only this once/);
  const list = async () => JSON.parse((await sluice('token', 'list', '--json')).stdout) as Listed[];
  const listed = (await list()).find(({ name }) => name === 'studio')!;
  expect(listed).toMatchObject({ scopes: ['watch', 'work'], workflow: 'w', revoked_at: null });
  expect(listed.expires_at).toMatch(/^\d{4}-/);
  const revoked = await sluice('token', 'revoke', String(listed.id));
  expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining("'studio'") });
  expect((await list()).find(({ id }) => id === listed.id)!.revoked_at).not.toBeNull();
  const shown = await sluice('token', 'list');
  expect(shown.stdout).toMatch(/studio.*revoked/);
  const missing = await sluice('token', 'revoke', '999');
  expect(missing.code).toBe(1);
  expect(missing.stderr).toMatch(/there is no token 999/);
}

describe('token', () => {
  test('works in its own process where nobody serves', async () => {
    const cwd = project();
    await useTokens(cwd);
    expect(statSync(join(cwd, '.sluice', 'state.db')).mode & 0o077).toBe(0);
  });

  test('works through the owner while it serves', async () => {
    const cwd = project();
    const server = await startServe(cwd);
    await useTokens(cwd);
    expect(await (await server.ask('/api/tokens')).text()).toContain('studio');
  });

  test('works by URL with a token from a file, and is refused without it', async () => {
    const cwd = project();
    const server = await startServe(cwd);
    const elsewhere = project();
    const file = join(cwd, '.sluice', 'admin-token');
    await useTokens(elsewhere, '--api', server.url, '--token-file', file);
    expect(existsSync(join(elsewhere, '.sluice'))).toBe(false);
    const refused = await runSluice(['token', 'list', '--api', server.url], { cwd: elsewhere });
    expect(refused.code).toBe(1);
    expect(refused.stderr).not.toMatch(/^\s+at /m);
  });

  test('says so when nobody answers at the URL, or the file cannot be read', async () => {
    const gone = await runSluice(['token', 'list', '--api', 'http://127.0.0.1:1']);
    expect(gone).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no answer from http://127.0.0.1:1'),
    });
    const unread = await runSluice([
      'token',
      'list',
      '--api',
      'http://127.0.0.1:1',
      '--token-file',
      'nowhere',
    ]);
    expect(unread).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot read the token') });
  });

  test.each([
    ['a scope nobody knows', ['create', 'x', '--scope', 'root']],
    ['no name', ['create']],
    ['a time that is none', ['create', 'x', '--expires', 'soon']],
  ])('with %s is refused', async (_title, args) => {
    const { code, stdout, stderr } = await runSluice(['token', ...args], { cwd: project() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('rm', () => {
  test('takes a workflow off, slashes in its name and all, and names the nearest if there is none', async () => {
    const cwd = project();
    const server = await startServe(cwd);
    const body = { method: 'PUT', body: CHAIN };
    expect((await server.ask('/api/workflows/team%2Fblog?root=/p', body)).status).toBe(200);
    const wrong = await runSluice(['rm', 'team/blgo'], { cwd });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/did you mean 'team\/blog'/);
    const gone = await runSluice(['rm', 'team/blog'], { cwd });
    expect(gone).toMatchObject({ code: 0, stdout: 'removed team/blog; its history is kept\n' });
    expect(await (await server.ask('/api/workflows')).json()).toEqual([]);
    const events = await (await server.ask('/api/events')).text();
    expect(events).toContain('workflow_removed');
    expect((await runSluice(['rm', 'team/blog', '--drop-history'], { cwd })).code).toBe(0);
    expect(await (await server.ask('/api/events')).json()).toEqual([]);
  });
});

describe('db', () => {
  test('migrate brings a file of the previous migration up to date, and leaves what is in it', async () => {
    const cwd = project();
    const file = join(cwd, 'old.db');
    const db = openEmbedded({ file });
    await migrate(db, MIGRATIONS.slice(0, -1), 1);
    await db.close();
    const migrated = await runSluice(['db', 'migrate', '--db', file], { cwd });
    const { id, name } = MIGRATIONS.at(-1)!;
    expect(migrated).toMatchObject({ code: 0, stdout: `applied:\n${id} ${name}\n` });
    expect(await runSluice(['db', 'migrate', '--db', `file:${file}`], { cwd })).toMatchObject({
      ...{ code: 0, stdout: 'up to date\n' },
    });
  });

  test('backup while the server writes makes a copy that opens and gives the same answers', async () => {
    const cwd = project();
    const server = await startServe(cwd);
    await server.ask('/api/workflows/w?root=/p', { method: 'PUT', body: CHAIN });
    const see = (text: string, count: number) => {
      const observations = Array.from({ length: count }, (_, i) => ({
        ...{ path: `/p/raw/${i}.txt`, hash: h(`${text} ${i}`), size: 1 },
      }));
      const body = JSON.stringify({ target: 'local', watcher: 'x', observations });
      return server.ask('/api/observations', {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      });
    };
    await see('first', 500);
    let isOver = false;
    const writing = (async () => {
      for (let i = 0; !isOver; i++) expect((await see(`text ${i}`, 20)).status).toBe(200);
    })();
    const copy = join(cwd, 'copy.db');
    const result = await runSluice(['db', 'backup', copy], { cwd });
    isOver = true;
    await writing;
    expect(result).toMatchObject({ code: 0, stdout: `copied to ${copy}\n` });
    expect(statSync(copy).mode & 0o077).toBe(0);
    const status = await (await server.ask('/api/pipeline/w/status')).json();
    expect(await statusOf(copy)).toEqual(status);
    const again = await runSluice(['db', 'backup', copy], { cwd });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
  });

  test('backup without a name or of nothing says what is missing', async () => {
    expect(await runSluice(['db', 'backup'], { cwd: project() })).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('needs the name of the copy') },
    });
    const none = await runSluice(['db', 'backup', 'copy.db'], { cwd: project() });
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('no such file') });
  });

  test('a file that is no database is told as that', async () => {
    const cwd = project();
    writeFileSync(
      join(cwd, 'no.db'),
      'this is not a database, and long enough to be looked at by anybody'.repeat(50),
    );
    const { code, stderr } = await runSluice(['db', 'migrate', '--db', join(cwd, 'no.db')], { cwd });
    expect(code).toBe(1);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

/** What the control plane answers on this file. */
async function statusOf(file: string): Promise<unknown> {
  const inProcess = await startInProcess();
  const db = await openDatabase({ url: file }, Date.now());
  const app = createApp({ ...(inProcess.parts as Parts), db });
  const request = new Request('http://sluice.local/api/pipeline/w/status');
  const status = await (await app.fetch(request, { trusted: ADMIN })).json();
  await db.close();
  await inProcess.stop();
  return status;
}
