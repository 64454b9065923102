// Writes to a database far away go one at a time, in the order they came; reads do not wait for them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../api/store/database.ts';
import { openRemote } from '../../../api/store/remote.ts';
import { type Sqld, startSqld } from '../../rig/sqld.ts';

let sqld: Sqld;
beforeAll(async () => {
  sqld = await startSqld();
});
afterAll(() => sqld.stop());

test('of many writes at once only one is under way, and the first come is the first served', async () => {
  let underWay = 0;
  let most = 0;
  const counting: typeof fetch = async (...args) => {
    most = Math.max(most, ++underWay);
    try {
      return await fetch(...args);
    } finally {
      underWay -= 1;
    }
  };
  const db = openRemote({ url: sqld.url, fetch: counting });
  await db.batch([sql('CREATE TABLE arrivals (id INTEGER PRIMARY KEY, n INTEGER)')], 'write');
  most = 0;
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  await Promise.all(numbers.map((n) => db.batch([sql('INSERT INTO arrivals (n) VALUES (?)', n)], 'write')));
  expect(most).toBe(1);
  const [found] = await db.batch([sql('SELECT n FROM arrivals ORDER BY id')], 'read');
  expect(found!.rows.map(({ n }) => n)).toEqual(numbers);
  await db.close();
});

test('a write that gets no answer holds up no read, and the next write only until it is given up', async () => {
  let isSilent = true;
  const silentOnce: typeof fetch = (input, init) => {
    if (!isSilent) return fetch(input, init);
    isSilent = false;
    return new Promise((_, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
    });
  };
  const db = openRemote({ url: sqld.url, fetch: silentOnce, timeoutMs: 500 });
  const lost = db.batch([sql('CREATE TABLE lost (id INTEGER)')], 'write').catch((error) => error);
  await Promise.resolve();
  const next = db.batch([sql('CREATE TABLE after_it (id INTEGER)')], 'write');
  const [read] = await db.batch(
    [sql("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'after_it'")],
    'read',
  );
  expect(read!.rows[0]!.n).toBe(0);
  await next;
  expect(await lost).toMatchObject({ code: 'database-unreachable', inDoubt: true });
  await db.close();
});
