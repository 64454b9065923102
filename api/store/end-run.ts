// Ends a run with its counts; and the runs there were.

import { sql } from './database.ts';
import type { Store } from './store.ts';

export interface RunCounts {
  readonly stages_run: number;
  readonly stages_cached: number;
  readonly stages_failed: number;
  readonly total_seconds: number;
}

export interface RunSummary {
  readonly id: string;
  readonly workflow: string;
  readonly cause: string;
  readonly scope: unknown;
  readonly status: 'running' | 'completed' | 'failed';
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly counts: RunCounts | null;
}

/** False if there is no such run, or it has ended already. */
export async function endRun(
  { db, nowMs }: Store,
  run: { readonly id: string; readonly status: 'completed' | 'failed'; readonly counts: RunCounts },
): Promise<boolean> {
  const { id, status, counts } = run;
  const [ended] = await db.batch(
    [
      sql(
        `UPDATE runs SET ended_at = ?2, status = ?3, counts = ?4 WHERE id = ?1 AND ended_at IS NULL RETURNING id`,
        ...[id, nowMs(), status, JSON.stringify(counts)],
      ),
      sql(
        `INSERT INTO events (at, workflow_id, event, body)
         SELECT ?2, workflow_id, 'run_completed', ?3 FROM runs WHERE id = ?1 AND changes() = 1`,
        ...[id, nowMs(), JSON.stringify({ run: id, status, ...counts })],
      ),
    ],
    'write',
  );
  return ended!.rows.length > 0;
}

export async function listRuns({ db }: Store, workflow: string, limit: number): Promise<RunSummary[]> {
  const [found] = await db.batch([sql(RUNS, workflow, limit)], 'read');
  return found!.rows.map((row) => ({
    id: row.id as string,
    workflow,
    cause: row.cause as string,
    scope: JSON.parse(row.scope as string),
    status: row.status as RunSummary['status'],
    started_at: new Date(row.started_at as number).toISOString(),
    ended_at: row.ended_at === null ? null : new Date(row.ended_at as number).toISOString(),
    counts: row.counts === null ? null : (JSON.parse(row.counts as string) as RunCounts),
  }));
}

const RUNS = `SELECT * FROM runs WHERE workflow_id = (SELECT id FROM workflows WHERE name = ?1)
  ORDER BY started_at DESC LIMIT ?2`;
