// Puts right what only time brings about: leases that ran out, retries that are due, collections that begin to wait.
//
// Called inside a claim that would otherwise come back short-handed while there is something to put right, by the Cron
// Trigger and by the Node server.

import { sql } from './database.ts';
import type { Store } from './store.ts';

/** How often a runner may vanish in the middle of one state before nobody is given it any more. */
export const MOST_LOSSES = 5;

/** How many states may be claimed again because of it. */
export async function sweep({ db, nowMs }: Store): Promise<number> {
  const now = nowMs();
  const results = await db.batch(
    [
      sql(LOST_FAILURES, now, MOST_LOSSES),
      sql(LOST_ATTEMPTS, now),
      sql(EXPIRED, now, MOST_LOSSES),
      sql(RETRY, now),
      sql(WAITING, now),
    ],
    'write',
  );
  return results[2]!.rows.length + results[3]!.rows.length;
}

/** With the version of the registry, which a claim asks for in the same breath. */
export const SWEEP_DUE = `SELECT (SELECT value FROM counters WHERE name = 'registry') AS version,
  EXISTS (SELECT 1 FROM states WHERE status = 'running' AND lease_until < ?1)
  OR EXISTS (SELECT 1 FROM failures f JOIN states s ON s.id = f.state_id
    WHERE f.retry_at <= ?1 AND s.status = 'failed')
  OR EXISTS (SELECT 1 FROM stages g JOIN states s ON s.stage_id = g.id
    WHERE g.lenient = 1 AND g.removed_at IS NULL
      AND s.status = 'stale' AND s.blockers > 0 AND s.stale_since IS NULL) AS due`;

const LOST_FAILURES = `INSERT INTO failures (state_id, failures, error, first_failed_at, last_failed_at)
  SELECT id, 1, 'its runner vanished ' || ?2 || ' times while making it', ?1, ?1
  FROM states WHERE status = 'running' AND lease_until < ?1 AND losses + 1 >= ?2
  ON CONFLICT (state_id) DO UPDATE SET error = excluded.error, last_failed_at = ?1, retry_at = NULL`;

const LOST_ATTEMPTS = `UPDATE attempts SET ended_at = ?1, outcome = 'lost', error = 'the lease ran out'
  WHERE token IN (SELECT token FROM states WHERE status = 'running' AND lease_until < ?1) AND ended_at IS NULL`;

// A vanished runner says nothing about the command, so it burns no attempt; but no state may kill runners for ever.
const EXPIRED = `UPDATE states SET losses = losses + 1,
    status = CASE WHEN losses + 1 >= ?2 THEN 'exhausted' ELSE 'stale' END
  WHERE status = 'running' AND lease_until < ?1 RETURNING id`;

const RETRY = `UPDATE states SET status = 'stale'
  WHERE status = 'failed' AND id IN (SELECT state_id FROM failures WHERE retry_at <= ?1) RETURNING id`;

const WAITING = `UPDATE states SET stale_since = ?1
  WHERE status = 'stale' AND blockers > 0 AND stale_since IS NULL
    AND stage_id IN (SELECT id FROM stages WHERE removed_at IS NULL AND lenient = 1)`;
