// What a look costs: one round trip, and no table is read from end to end.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Statement } from '../../../api/store/database.ts';
import type { Store } from '../../../api/store/store.ts';
import { LOOKS } from './looks.ts';
import { BLOG, type ReadRig, startReadRig } from './read-rig.ts';

/** Lists of the request, and tables that are as small as the installation or as what is wrong with it. */
const MAY_BE_READ_WHOLE = /^SCAN (\w+ VIRTUAL TABLE|w\b|machines\b|f\b|CONSTANT ROW|\d+ CONSTANT ROWS?)/;

let rig: ReadRig;
beforeAll(async () => {
  rig = await startReadRig();
  await rig.register('blog', BLOG);
  for (let from = 0; from < 1_000; from += 500) {
    const names = Array.from({ length: 500 }, (_, i) => `logs/e${from + i}.txt`);
    await rig.see(Object.fromEntries(names.map((name) => [name, name])));
  }
  const [first, second] = await rig.claim(3);
  await rig.make(first!, { 'logs/e0.txt': 'logs/e0.txt' }, { 'summaries/e0.txt': 's' });
  await rig.fail(second!);
});
afterAll(() => rig.stop());

test.each(Object.keys(LOOKS))('%s: a constant number of round trips', async (name) => {
  const before = rig.db.stats.batches;
  await LOOKS[name]!(rig.store);
  expect(rig.db.stats.batches - before).toBe(name === 'why' ? 2 : 1);
});

test.each(Object.keys(LOOKS))('%s: finds its rows by an index', async (name) => {
  const scans: string[] = [];
  for (const { sql, args } of await statementsOf(LOOKS[name]!)) {
    const [plan] = await rig.db.batch([{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }], 'read');
    const lines = plan!.rows.map(({ detail }) => detail as string);
    const results = lines.flatMap((line) => /^(?:CO-ROUTINE|MATERIALIZE) (\S+)/.exec(line)?.[1] ?? []);
    const isFine = (line: string) =>
      MAY_BE_READ_WHOLE.test(line) || results.some((result) => line === `SCAN ${result}`);
    scans.push(...lines.filter((line) => line.startsWith('SCAN') && !isFine(line)));
  }
  expect(scans).toEqual([]);
});

test.each([
  ['stale', 'states_claimable'],
  ['waiting', 'states_waiting'],
  ['running', 'states_running'],
  ['exhausted', 'states_gave_up'],
])('states that are %s come from the index that has only these', async (name, index) => {
  const [, page] = await statementsOf(LOOKS[`states that are ${name}`]!);
  const [plan] = await rig.db.batch([{ ...page!, sql: `EXPLAIN QUERY PLAN ${page!.sql}` }], 'read');
  expect(plan!.rows.map(({ detail }) => detail).join('\n')).toContain(`INDEX ${index} (`);
});

async function statementsOf(look: (store: Store) => Promise<unknown>): Promise<Statement[]> {
  const asked: Statement[] = [];
  const { db } = rig;
  const spy = {
    ...{ close: () => db.close(), stats: db.stats },
    batch: (statements: readonly Statement[], mode: 'read' | 'write') => {
      asked.push(...statements);
      return db.batch(statements, mode);
    },
  };
  await look({ ...rig.store, db: spy });
  return asked;
}
