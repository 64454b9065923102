// The Worker itself: how large it is, what it says before its database is migrated, and its Cron Trigger.

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../api/store/database.ts';
import { migrate } from '../../api/store/migrate.ts';
import { openRemote } from '../../api/store/remote.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { CHAIN, ControlPlane } from '../rig/control-plane.ts';
import { adminToken } from '../rig/control-plane-shapes.ts';
import { type Sqld, startSqld } from '../rig/sqld.ts';
import { builtWorker, startBuiltWorker, type Workerd } from '../rig/workerd.ts';

let sqld: Sqld;
let worker: Workerd;
beforeAll(async () => {
  sqld = await startSqld();
  worker = await startBuiltWorker({ bindings: { LIBSQL_URL: sqld.url } });
});
afterAll(async () => {
  await worker?.stop();
  await sqld?.stop();
});

test('what is uploaded is smaller than 1 MB, compressed', () => {
  const files = builtWorker();
  expect(files.map(({ path }) => path)).toContain('worker.js');
  const bytes = files.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(1_000_000);
});

test('before its database is migrated it says so, with the next step; afterwards it works', async () => {
  const early = await worker.fetch('/api/workflows');
  expect(early.status).toBe(503);
  expect(early.headers.get('Content-Type')).toBe('application/problem+json');
  expect(await early.json()).toMatchObject({
    code: 'database-older',
    detail: expect.stringContaining('migration 0'),
    hint: expect.stringContaining('sluice db migrate'),
  });
  const db = openRemote({ url: sqld.url });
  await migrate(db, MIGRATIONS.slice(0, -1), Date.now());
  expect((await worker.fetch('/api/workflows')).status).toBe(503);
  await migrate(db, MIGRATIONS, Date.now());
  expect((await worker.fetch('/healthz')).status).toBe(200);
  expect((await worker.fetch('/api/workflows')).status).toBe(401);
  await db.close();
});

test('the first requests of a new isolate may all come at once', async () => {
  const cold = await startBuiltWorker({ bindings: { LIBSQL_URL: sqld.url } });
  const answers = await Promise.all(Array.from({ length: 50 }, () => cold.fetch('/healthz')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await cold.stop();
});

test('its Cron Trigger frees leases that ran out, without anybody claiming', async () => {
  const db = openRemote({ url: sqld.url });
  await migrate(db, MIGRATIONS, Date.now());
  const Authorization = `Bearer ${await adminToken(db, Date.now())}`;
  const cp = new ControlPlane();
  cp.shape = {
    db,
    fetch: (path, init) => worker.fetch(path, { ...init, headers: { ...init?.headers, Authorization } }),
  } as ControlPlane['shape'];
  await cp.register('w', CHAIN);
  await cp.see({ 'raw/a.txt': 'a' });
  await cp.claimOne();
  await db.batch([sql('UPDATE states SET lease_until = 1 WHERE lease_until IS NOT NULL')], 'write');
  await worker.tick();
  expect(await cp.words()).toMatchObject({ 'clean@a': 'stale' });
  await db.close();
});

test('on a database of a newer program it refuses to work', async () => {
  const db = openRemote({ url: sqld.url });
  await migrate(db, MIGRATIONS, Date.now());
  await db.batch(
    [sql("INSERT INTO sluice_migrations VALUES (?, 'of the future', 1)", MIGRATIONS.length + 1)],
    'write',
  );
  const other = await startBuiltWorker({ bindings: { LIBSQL_URL: sqld.url } });
  const response = await other.fetch('/api/workflows');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({
    code: 'database-newer',
    hint: expect.stringContaining('upgrade'),
  });
  await other.stop();
  await db.close();
});
