// A person asks again: what failed or gave up is stale at once, and its failures are forgotten.

import { type Chosen, chosenStates } from './chosen-states.ts';
import { sql } from './database.ts';
import type { Store } from './store.ts';

export async function retryStates({ db, nowMs }: Store, chosen: Chosen): Promise<number> {
  const { where, args } = chosenStates(chosen);
  const failed = `SELECT s.id FROM states s WHERE ${where} AND s.status IN ('failed', 'exhausted')
    AND s.rival_id IS NULL`;
  const [, , retried] = await db.batch(
    [
      sql(
        `INSERT INTO events (at, workflow_id, event, body)
         SELECT ?${args.length + 1}, w.id, 'retry_asked', ?${args.length + 2} FROM workflows w WHERE w.name = ?1
           AND EXISTS (${failed})`,
        ...[...args, nowMs(), JSON.stringify({ ...chosen })],
      ),
      sql(`DELETE FROM failures WHERE state_id IN (${failed})`, ...args),
      sql(`UPDATE states SET status = 'stale', losses = 0 WHERE id IN (${failed}) RETURNING id`, ...args),
    ],
    'write',
  );
  return retried!.rows.length;
}
