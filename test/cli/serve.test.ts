// `sluice serve`: where it listens, who may come in, and what it says when it cannot start.

import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../api/store/database.ts';
import { openEmbedded } from '../../api/store/embedded.ts';
import { migrate } from '../../api/store/migrate.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
import { startServe } from '../rig/serve.ts';
import { type Sqld, startSqld } from '../rig/sqld.ts';

const project = () => temporaryFolder({ '.git/HEAD': '' });

describe('serve', () => {
  test('listens on this machine only, with an admin token that only its owner can read', async () => {
    const cwd = project();
    const server = await startServe(cwd);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/api/workflows`)).status).toBe(401);
    expect((await server.ask('/api/workflows')).status).toBe(200);
    const file = join(cwd, '.sluice', 'admin-token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(server.stderr()).toContain(file);
    expect(server.stderr()).not.toContain(readFileSync(file, 'utf8').trim());
    expect(await server.stop('SIGINT')).toBe(0);
  });

  test('keeps its token from one start to the next', async () => {
    const cwd = project();
    const first = await startServe(cwd);
    const token = readFileSync(join(cwd, '.sluice', 'admin-token'), 'utf8');
    expect(await first.stop()).toBe(0);
    const second = await startServe(cwd);
    expect(readFileSync(join(cwd, '.sluice', 'admin-token'), 'utf8')).toBe(token);
    expect((await second.ask('/api/tokens')).status).toBe(200);
  });

  test('a second one in the same project ends with 4 and the next step', async () => {
    const cwd = project();
    await startServe(cwd);
    const second = await runSluice(['serve', '--port', '0'], { cwd });
    expect(second).toMatchObject({ code: 4, stdout: '' });
    expect(second.stderr).toMatch(/another sluice is working in this project/);
  });

  test('a port that is taken is told, with the way to another', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await runSluice(['serve', '--port', String(port)], { cwd: project() });
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/EADDRINUSE/);
    expect(stderr).toMatch(/--port/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test.each(['-1', 'http', '65536', '8.5'])('the port %s is refused', async (port) => {
    const { code, stderr } = await runSluice(['serve', `--port=${port}`], { cwd: project() });
    expect(code).toBe(1);
    expect(stderr).toMatch(/is not a port/);
  });

  test('a database of a newer program is refused, without a stack trace', async () => {
    const cwd = temporaryFolder({ '.git/HEAD': '', '.sluice/x': '' });
    const db = openEmbedded({ file: join(cwd, '.sluice', 'state.db') });
    await migrate(db, MIGRATIONS, 1);
    await db.batch(
      [sql("INSERT INTO sluice_migrations VALUES (?, 'future', 1)", MIGRATIONS.length + 1)],
      'write',
    );
    await db.close();
    const { code, stdout, stderr } = await runSluice(['serve', '--port', '0'], { cwd });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/made by a newer sluice/);
    expect(stderr).toMatch(/upgrade/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('serve with a database by URL', () => {
  let sqld: Sqld;
  beforeAll(async () => {
    sqld = await startSqld();
  });
  afterAll(() => sqld.stop());

  test('needs it migrated, and then a token before other machines may reach it', async () => {
    const cwd = project();
    const onSqld = ['--db', sqld.url];
    const early = await runSluice(['serve', '--port', '0', ...onSqld], { cwd });
    expect(early.code).toBe(1);
    expect(early.stderr).toMatch(/sluice db migrate/);

    const migrated = await runSluice(['db', 'migrate', ...onSqld], { cwd });
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^applied:\n1 /) });
    expect(await runSluice(['db', 'migrate', ...onSqld], { cwd })).toMatchObject({ stdout: 'up to date\n' });

    const open = await runSluice(['serve', '--port', '0', '--host', '0.0.0.0', ...onSqld], { cwd });
    expect(open.code).toBe(1);
    expect(open.stderr).toMatch(/there is no token yet/);
    expect(open.stderr).toMatch(/sluice token create/);

    const made = await runSluice(['token', 'create', 'ci', '--scope', 'read', ...onSqld], { cwd });
    expect(made.code).toBe(0);
    const server = await startServe(cwd, '--host', '0.0.0.0', ...onSqld);
    const local = server.url.replace('0.0.0.0', '127.0.0.1');
    const headers = { Authorization: `Bearer ${made.stdout.trim()}` };
    expect((await fetch(`${local}/api/workflows`)).status).toBe(401);
    expect((await fetch(`${local}/api/workflows`, { headers })).status).toBe(200);
  });
});
