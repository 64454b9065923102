// Takes a workflow away: its states go, its files stay where they are, its history stays unless asked otherwise.

import { type Statement, sql } from './database.ts';
import { BUMP_REGISTRY } from './registered.ts';
import type { Store } from './store.ts';

/** False if there is no such workflow. */
export async function deleteWorkflow(store: Store, name: string, history: 'keep' | 'drop'): Promise<boolean> {
  const isThere = `name = ?1 AND (deleted_at IS NULL OR '${history}' = 'drop')`;
  const of = `(SELECT id FROM workflows WHERE ${isThere})`;
  const [known] = await store.db.batch([sql(`SELECT id FROM workflows WHERE ${isThere}`, name)], 'read');
  if (known!.rows.length === 0) return false;
  const drop: Statement[] = [
    // Kept with the history: a stage that comes back has its id again, and must find its counts, all at zero.
    sql(`DELETE FROM counts WHERE stage_id IN (SELECT id FROM stages WHERE workflow_id = ${of})`, name),
    ...['attempts', 'events', 'runs', 'definitions', 'entities', 'stages'].map((table) =>
      sql(`DELETE FROM ${table} WHERE workflow_id = ${of}`, name),
    ),
    sql('DELETE FROM workflows WHERE name = ?1', name),
  ];
  const keep: Statement[] = [
    sql(
      `INSERT INTO events (at, workflow_id, event) SELECT ?2, id, 'workflow_removed' FROM workflows WHERE ${isThere}`,
      ...[name, store.nowMs()],
    ),
    sql(
      `UPDATE stages SET removed_at = ?2 WHERE workflow_id = ${of} AND removed_at IS NULL`,
      name,
      store.nowMs(),
    ),
    sql(`UPDATE workflows SET deleted_at = ?2 WHERE ${isThere}`, name, store.nowMs()),
  ];
  await store.db.batch(
    [
      sql(
        `UPDATE attempts SET ended_at = ?2, outcome = 'lost', error = 'its workflow was removed'
         WHERE ended_at IS NULL
           AND token IN (SELECT token FROM states WHERE workflow_id = ${of} AND status = 'running')`,
        ...[name, store.nowMs()],
      ),
      sql(
        `DELETE FROM stage_links WHERE stage_id IN (SELECT id FROM stages WHERE workflow_id = ${of})
           OR upstream_id IN (SELECT id FROM stages WHERE workflow_id = ${of})`,
        name,
      ),
      sql(`DELETE FROM states WHERE workflow_id = ${of}`, name),
      ...(history === 'drop' ? drop : keep),
      sql(
        `DELETE FROM paths WHERE maker_id IS NULL AND NOT EXISTS (SELECT 1 FROM inputs i WHERE i.path_id = paths.id)`,
      ),
      BUMP_REGISTRY,
    ],
    'write',
  );
  store.registered.forget();
  return true;
}
