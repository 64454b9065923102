// Entities whose names stand beside a name that is not there, for "did you mean".

import { sql } from './database.ts';
import type { Store } from './store.ts';

export async function nearEntities({ db }: Store, workflow: number, name: string): Promise<string[]> {
  const [before, after] = await db.batch([sql(BEFORE, workflow, name), sql(AFTER, workflow, name)], 'read');
  return [...before!.rows, ...after!.rows].map((row) => row.name as string);
}

const BEFORE = 'SELECT name FROM entities WHERE workflow_id = ? AND name < ? ORDER BY name DESC LIMIT 50';
const AFTER = 'SELECT name FROM entities WHERE workflow_id = ? AND name >= ? ORDER BY name LIMIT 50';
