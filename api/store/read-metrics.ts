// The numbers for /metrics: all of them kept as counts or found by an index.

import { type Row, sql } from './database.ts';
import type { Store } from './store.ts';

export interface Metrics {
  readonly states: readonly {
    readonly workflow: string;
    readonly stage: string;
    readonly word: string;
    readonly n: number;
  }[];
  readonly entities: readonly { readonly workflow: string; readonly n: number }[];
  readonly machines: readonly { readonly role: string; readonly name: string; readonly lastSeenMs: number }[];
  readonly events: number;
  readonly attempts: number;
}

export async function readMetrics({ db }: Store): Promise<Metrics> {
  const [states, entities, machines, totals] = await db.batch(
    [sql(STATES), sql(ENTITIES), sql(MACHINES), sql(TOTALS)],
    'read',
  );
  const rows = <Shape>(found: { readonly rows: readonly Row[] } | undefined) =>
    found!.rows as unknown as readonly Shape[];
  return {
    states: rows<Metrics['states'][number]>(states),
    entities: rows<Metrics['entities'][number]>(entities),
    machines: rows<Metrics['machines'][number]>(machines),
    events: totals!.rows[0]!.events as number,
    attempts: totals!.rows[0]!.attempts as number,
  };
}

const STATES = `SELECT w.name AS workflow, g.name AS stage, c.word, c.n
  FROM workflows w CROSS JOIN stages g ON g.workflow_id = w.id CROSS JOIN counts c ON c.stage_id = g.id
  WHERE w.deleted_at IS NULL AND g.removed_at IS NULL ORDER BY w.name, g.position, c.word`;

const ENTITIES = `SELECT w.name AS workflow, n.n FROM workflows w CROSS JOIN entity_counts n ON n.workflow_id = w.id
  WHERE w.deleted_at IS NULL ORDER BY w.name`;

const MACHINES = 'SELECT role, name, last_seen_at AS lastSeenMs FROM machines ORDER BY role, name LIMIT 1000';

const TOTALS = `SELECT coalesce((SELECT max(id) FROM events), 0) AS events,
  coalesce((SELECT max(token) FROM attempts), 0) AS attempts`;
