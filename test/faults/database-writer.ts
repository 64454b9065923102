// Writes to a database file as told by its input, one answer per batch; bundled and killed by the fault tests.

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DatabaseError, sql } from '../../api/store/database.ts';
import { openEmbedded } from '../../api/store/embedded.ts';

const [, , file = '', busyTimeoutMs = '5000'] = process.argv;
const db = openEmbedded({ file, busyTimeoutMs: Number(busyTimeoutMs) });

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, count = '1'] = line.split(' ');
  if (verb === 'flood') for (;;) await answer(writePair);
  for (let i = 0; i < Number(count); i++) await answer(verb === 'increment' ? increment : writePair);
}

/** Written at once and to the end, so that what the test read was acknowledged, and nothing after it was lost. */
async function answer(act: () => Promise<void>): Promise<void> {
  const text = await act().then(
    () => 'ok',
    (error) => (error instanceof DatabaseError ? error.code : String(error)),
  );
  writeSync(1, `${text}\n`);
}

async function writePair(): Promise<void> {
  const insert = 'INSERT INTO pair (half) VALUES (?) RETURNING id';
  await db.batch([sql(insert, 'left'), sql(insert, 'right')], 'write');
}

async function increment(): Promise<void> {
  await db.batch([sql('UPDATE counter SET n = n + 1')], 'write');
}
