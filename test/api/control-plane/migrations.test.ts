// Databases of other times: an older one is brought up to date with all that is in it, a newer one is refused.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { openDatabase } from '../../../api/open-database.ts';
import { type Database, sql } from '../../../api/store/database.ts';
import { openEmbedded } from '../../../api/store/embedded.ts';
import { migrate } from '../../../api/store/migrate.ts';
import { openRemote } from '../../../api/store/remote.ts';
import { MIGRATIONS } from '../../../schema/migrations.ts';
import { CHAIN, ControlPlane } from '../../rig/control-plane.ts';
import { ADMIN, type Shape, startInProcess } from '../../rig/control-plane-shapes.ts';
import { startSqld } from '../../rig/sqld.ts';

let directory: string;
let file: string;
let model: Shape;
beforeAll(async () => {
  model = await startInProcess();
});
afterAll(() => model.stop());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-migrations-'));
  file = join(directory, 'state.db');
  return () => rmSync(directory, { recursive: true, force: true });
});

/** The control plane on a database of any age. */
function on(db: Database): ControlPlane {
  const app = createApp({ ...model.parts!, db });
  const cp = new ControlPlane();
  const fetch: Shape['fetch'] = async (path, init) =>
    app.fetch(new Request(`http://sluice.local${path}`, init), { trusted: ADMIN });
  cp.shape = { ...model, db, fetch };
  return cp;
}

test('a file of the previous migration opens, is brought up to date, and answers as before', async () => {
  const old = openEmbedded({ file });
  expect(await migrate(old, MIGRATIONS.slice(0, -1), 1)).toEqual(MIGRATIONS.slice(0, -1).map(({ id }) => id));
  const before = on(old);
  await before.register('w', CHAIN);
  await before.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
  await before.make(await before.claimOne());
  const answers = [await before.status(), await before.states(), await before.events()];
  await old.close();

  const db = await openDatabase({ url: file }, 2);
  const after = on(db);
  expect([await after.status(), await after.states(), await after.events()]).toEqual(answers);
  expect(await after.rows('SELECT id FROM sluice_migrations ORDER BY id')).toEqual(
    MIGRATIONS.map(({ id }) => ({ id })),
  );
  expect(await after.post('/api/tokens', { name: 't', scopes: ['read'] })).toMatchObject({ name: 't' });
  expect(await after.settle()).toHaveLength(3);
  await db.close();
});

test('a file that is up to date is opened without being written to', async () => {
  await (await openDatabase({ url: file }, 1)).close();
  const before = readFileSync(file);
  await (await openDatabase({ url: `file:${file}` }, 2)).close();
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a file of a newer program is refused by the numbers of both, and not touched', async () => {
  const db = await openDatabase({ url: file }, 1);
  await db.batch(
    [sql("INSERT INTO sluice_migrations VALUES (?, 'future', 1)", MIGRATIONS.length + 1)],
    'write',
  );
  await db.close();
  const before = readFileSync(file);
  await expect(openDatabase({ url: file }, 2)).rejects.toMatchObject({
    code: 'database-newer',
    message: expect.stringMatching(
      new RegExp(`newer sluice \\(migration ${MIGRATIONS.length + 1}\\).*knows up to ${MIGRATIONS.length}`),
    ),
    hint: expect.stringContaining('upgrade'),
  });
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a shared database is migrated only when asked, and refused until then', async () => {
  const sqld = await startSqld();
  const place = { url: sqld.url };
  await expect(openDatabase(place, 1)).rejects.toMatchObject({
    code: 'database-older',
    hint: expect.stringContaining('sluice db migrate'),
  });
  const db = openRemote(place);
  await migrate(db, MIGRATIONS.slice(0, -1), 1);
  await expect(openDatabase(place, 1)).rejects.toMatchObject({ code: 'database-older' });
  // Two at once: each migration is applied once.
  const other = openRemote(place);
  const [one, two] = await Promise.all([migrate(db, MIGRATIONS, 2), migrate(other, MIGRATIONS, 2)]);
  expect([...one, ...two]).toEqual([MIGRATIONS.length]);
  await (await openDatabase(place, 3)).close();
  await other.close();
  await db.close();
  await sqld.stop();
});
