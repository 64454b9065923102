// What nobody on this machine can do without: bare libSQL claiming and completing on a table of two columns, near and
// behind sqld, and Hono saying hello.

import { Hono } from 'hono';
import Libsql from 'libsql';
import type { Database } from '../../api/store/database.ts';
import { temporaryDatabase } from './plane.ts';

const TABLE = 'CREATE TABLE work (id INTEGER PRIMARY KEY, done INTEGER NOT NULL)';
const INDEX = 'CREATE INDEX work_done ON work (done) WHERE done = 0';
const FILL = `INSERT INTO work WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
  SELECT i, 0 FROM n`;
const CLAIM = `UPDATE work SET done = 1 WHERE id IN (SELECT id FROM work WHERE done = 0 ORDER BY id LIMIT ?)
  RETURNING id`;
const COMPLETE = 'UPDATE work SET done = 2 WHERE id IN (SELECT value FROM json_each(?)) AND done = 1';

/** Two transactions per batch, as a runner makes two requests. */
export async function bareLibsql(items: number, batch: number): Promise<void> {
  const { file, remove } = temporaryDatabase();
  const db = new Libsql(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${TABLE}; ${INDEX}`);
  db.prepare(FILL).run([BigInt(items)]);
  const [claim, complete] = [db.prepare<unknown[]>(CLAIM), db.prepare<unknown[]>(COMPLETE)];
  for (;;) {
    const claimed = claim.all([BigInt(batch)]) as { id: number }[];
    if (claimed.length === 0) break;
    complete.run([JSON.stringify(claimed.map(({ id }) => id))]);
  }
  db.close();
  remove();
}

export async function bareRemote(db: Database, items: number, batch: number): Promise<void> {
  await db.batch(
    ['DROP TABLE IF EXISTS work', TABLE, INDEX].map((sql) => ({ sql, args: [] })),
    'write',
  );
  await db.batch([{ sql: FILL, args: [items] }], 'write');
  for (;;) {
    const [claimed] = await db.batch([{ sql: CLAIM, args: [batch] }], 'write');
    if (claimed!.rows.length === 0) return;
    const ids = JSON.stringify(claimed!.rows.map(({ id }) => id));
    await db.batch([{ sql: COMPLETE, args: [ids] }], 'write');
  }
}

const hello = new Hono().get('/', (c) => c.text('hello'));

export async function helloInProcess(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const answer = await hello.fetch(new Request('http://sluice.local/'));
    await answer.text();
  }
}
