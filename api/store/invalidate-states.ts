// A person, or a run, asks for states to be made again although nothing changed; an edit by hand is given up.

import { type Chosen, chosenStates } from './chosen-states.ts';
import { type Statement, sql } from './database.ts';
import { NEWEST_TOKEN } from './newest-token.ts';
import type { Store } from './store.ts';

export async function invalidateStates(
  store: Store,
  chosen: Chosen & { readonly by: string },
): Promise<number> {
  const { by, ...what } = chosen;
  const { where, args } = chosenStates(what);
  const marked = [...mark({ where, args, kind: 'invalidated', detail: by }), logged(chosen, store.nowMs())];
  const results = await store.db.batch(marked, 'write');
  return results[1]!.rows.length;
}

interface Marking {
  readonly where: string;
  readonly args: Statement['args'];
  readonly kind: 'invalidated' | 'forced' | 'due';
  readonly detail: string | null;
}

/** A running state keeps running and ends stale; a state that was never made needs no reason to be. */
export function mark({ where, args, kind, detail }: Marking): readonly [Statement, Statement] {
  return [
    sql(
      `INSERT INTO reasons (state_id, kind, path_id, detail, sequence)
       SELECT s.id, '${kind}', 0, ?${args.length + 1}, ${NEWEST_TOKEN}
       FROM states s WHERE ${where} AND (s.cache_key IS NOT NULL OR s.status = 'running') AND s.status <> 'orphan'
       ON CONFLICT DO UPDATE SET detail = excluded.detail, sequence = excluded.sequence`,
      ...[...args, detail],
    ),
    sql(
      `UPDATE states SET status = CASE WHEN status = 'running' THEN status ELSE 'stale' END
       WHERE id IN (SELECT s.id FROM states s WHERE ${where}) AND status <> 'orphan' RETURNING id`,
      ...args,
    ),
  ];
}

function logged(chosen: Chosen, nowMs: number): Statement {
  return sql(
    `INSERT INTO events (at, workflow_id, event, body)
     SELECT ?2, id, 'invalidated', ?3 FROM workflows WHERE name = ?1`,
    ...[chosen.workflow, nowMs, JSON.stringify(chosen)],
  );
}
