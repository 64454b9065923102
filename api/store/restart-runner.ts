// A runner that starts again holds nothing of what it held before: its states are stale at once, not after the lease.

import type { RestartBody } from '../../schema/wire.ts';
import { sql } from './database.ts';
import type { Store } from './store.ts';

/** How many states were given back. */
export async function restartRunner({ db, nowMs }: Store, { runner, holding }: RestartBody): Promise<number> {
  const held = JSON.stringify(holding);
  const [, freed] = await db.batch([sql(LOST, nowMs(), runner, held), sql(FREE, runner, held)], 'write');
  return freed!.rows.length;
}

const held = (
  runner: string,
  kept: string,
) => `SELECT a.token FROM states s JOIN attempts a ON a.token = s.token
  WHERE s.status = 'running' AND a.runner = ${runner} AND a.token NOT IN (SELECT value FROM json_each(${kept}))`;

const LOST = `UPDATE attempts SET ended_at = ?1, outcome = 'lost', error = 'its runner was started again, or never heard of it'
  WHERE ended_at IS NULL AND token IN (${held('?2', '?3')})`;

const FREE = `UPDATE states SET lease_until = NULL,
    status = CASE WHEN (SELECT kind FROM attempts a WHERE a.token = states.token) = 'clean' THEN 'orphan' ELSE 'stale' END
  WHERE status = 'running' AND token IN (${held('?1', '?2')}) RETURNING id`;
