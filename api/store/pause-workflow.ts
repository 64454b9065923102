// Pauses and resumes a workflow: nothing of it is handed out meanwhile; what is running ends as usual.

import { sql } from './database.ts';
import { BUMP_REGISTRY } from './registered.ts';
import type { Store } from './store.ts';

/** False if there is no such workflow. */
export async function pauseWorkflow(store: Store, name: string, paused: boolean): Promise<boolean> {
  const now = store.nowMs();
  const [found] = await store.db.batch(
    [
      sql(
        `UPDATE workflows SET paused_at = CASE WHEN ?2 THEN coalesce(paused_at, ?3) END
         WHERE name = ?1 AND deleted_at IS NULL RETURNING id`,
        ...[name, paused ? 1 : 0, now],
      ),
      sql(
        `INSERT INTO events (at, workflow_id, event) SELECT ?2, id, ?3 FROM workflows
         WHERE name = ?1 AND deleted_at IS NULL`,
        ...[name, now, paused ? 'workflow_paused' : 'workflow_resumed'],
      ),
      // Nothing is to be read anew if there was nothing to pause.
      sql(`${BUMP_REGISTRY.sql} AND changes() > 0`),
    ],
    'write',
  );
  store.registered.forget();
  return found!.rows.length > 0;
}
