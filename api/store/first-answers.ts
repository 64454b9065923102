// What was answered the first time, for a runner that did not get to hear it and says the same again.

import type { ItemResult } from '../../schema/wire.ts';
import { sql } from './database.ts';
import type { Store } from './store.ts';

/** Tokens that are not in the answer never were this runner's, or were lost to another. */
export async function firstAnswers(
  { db }: Store,
  runner: string,
  tokens: readonly number[],
): Promise<ReadonlyMap<number, ItemResult>> {
  if (tokens.length === 0) return new Map();
  const [found] = await db.batch([sql(ANSWERS, JSON.stringify(tokens), runner)], 'read');
  return new Map(found!.rows.map(({ token, answer }) => [token as number, answer as ItemResult]));
}

const ANSWERS = `SELECT token, coalesce(answer, outcome) AS answer FROM attempts
  WHERE token IN (SELECT value FROM json_each(?1)) AND runner = ?2
    AND outcome IN ('made', 'verified', 'skipped', 'cleaned', 'failed', 'released')`;
