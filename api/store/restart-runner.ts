// A runner that starts again holds nothing of what it held before: its states are stale at once, not after the lease.

import { sql } from './database.ts';
import type { Store } from './store.ts';

/** How many states were given back. */
export async function restartRunner({ db, nowMs }: Store, runner: string): Promise<number> {
  const [, freed] = await db.batch([sql(LOST, nowMs(), runner), sql(FREE, runner)], 'write');
  return freed!.rows.length;
}

const HELD = `SELECT a.token FROM states s JOIN attempts a ON a.token = s.token
  WHERE s.status = 'running' AND a.runner =`;

const LOST = `UPDATE attempts SET ended_at = ?1, outcome = 'lost', error = 'its runner was started again'
  WHERE ended_at IS NULL AND token IN (${HELD} ?2)`;

const FREE = `UPDATE states SET lease_until = NULL,
    status = CASE WHEN (SELECT kind FROM attempts a WHERE a.token = states.token) = 'clean' THEN 'orphan' ELSE 'stale' END
  WHERE status = 'running' AND token IN (${HELD} ?1) RETURNING id`;
