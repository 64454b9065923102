// A runner that starts again holds nothing of what it held before: its states are stale at once, not after the lease.

import type { RestartBody } from '../../schema/wire.ts';
import { sql } from './database.ts';
import type { Store } from './store.ts';

export interface Restart extends RestartBody {
  /** What the caller is limited to. */
  readonly workflow: string | null;
  readonly target: string | null;
}

/** How many states were given back. */
export async function restartRunner({ db, nowMs }: Store, restart: Restart): Promise<number> {
  const { runner, holding, workflow, target } = restart;
  const args = [nowMs(), runner, JSON.stringify(holding), workflow, target];
  const [, freed] = await db.batch([sql(LOST, ...args), sql(FREE, ...args)], 'write');
  return freed!.rows.length;
}

const HELD = `SELECT a.token FROM states s JOIN attempts a ON a.token = s.token JOIN stages g ON g.id = s.stage_id
    JOIN workflows w ON w.id = s.workflow_id
  WHERE s.status = 'running' AND a.runner = ?2 AND a.token NOT IN (SELECT value FROM json_each(?3))
    AND (?4 IS NULL OR w.name = ?4) AND (?5 IS NULL OR g.target = ?5)`;

const LOST = `UPDATE attempts SET ended_at = ?1, outcome = 'lost', error = 'its runner was started again, or never heard of it'
  WHERE ended_at IS NULL AND token IN (${HELD})`;

const FREE = `UPDATE states SET lease_until = NULL,
    status = CASE WHEN (SELECT kind FROM attempts a WHERE a.token = states.token) = 'clean' THEN 'orphan' ELSE 'stale' END
  WHERE status = 'running' AND ?1 IS NOT NULL AND token IN (${HELD}) RETURNING id`;
