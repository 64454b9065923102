// Which workflows and targets some leases are about.

import { sql } from './database.ts';
import type { Store } from './store.ts';

export async function attemptedBy(
  { db }: Store,
  tokens: readonly number[],
): Promise<readonly { readonly workflow: string; readonly target: string }[]> {
  const [found] = await db.batch([sql(PLACES, JSON.stringify(tokens))], 'read');
  return found!.rows.map(({ workflow, target }) => ({
    workflow: workflow as string,
    target: target as string,
  }));
}

const PLACES = `SELECT DISTINCT w.name AS workflow, g.target
  FROM json_each(?) v JOIN attempts a ON a.token = v.value
  JOIN workflows w ON w.id = a.workflow_id JOIN stages g ON g.id = a.stage_id`;
