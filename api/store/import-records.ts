// Records that came from elsewhere, such as a lock file through git: as good as our own (SEMANTICS 1).
//
// A state that is not settled is handed out as before; whoever holds its files finds that a record has its key, and
// runs nothing.

import { sql } from './database.ts';
import { inChunks } from './discovered.ts';
import { asBlob } from './hashes.ts';
import type { Store } from './store.ts';

export interface ImportedRecord {
  readonly stage: string;
  readonly entity: string;
  readonly cache_key: string;
  readonly recipe: string;
  readonly deps: readonly unknown[];
  readonly outs: readonly unknown[];
  readonly skipped: boolean;
}

export interface ImportedRecords {
  readonly workflow: string;
  readonly recipes: Readonly<Record<string, unknown>>;
  readonly records: readonly ImportedRecord[];
}

/** How many of them are about states that are known. */
export async function importRecords(
  { db }: Store,
  { workflow, recipes, records }: ImportedRecords,
): Promise<number> {
  const rows = records.map(({ stage, entity, cache_key, recipe, deps, outs, skipped }) => [
    ...[stage, entity, cache_key, recipe, JSON.stringify(deps), JSON.stringify(outs), skipped ? 1 : 0],
  ]);
  const bodies = Object.entries(recipes).map(([hash, body]) => [hash, JSON.stringify(body)]);
  const chunks = inChunks(rows);
  if (chunks.length === 0) return 0;
  const results = await db.batch(
    [
      ...inChunks(bodies).map((json) => sql(RECIPES, json)),
      ...chunks.map((json) => sql(RECORDS, json, workflow)),
    ],
    'write',
  );
  return results.slice(-chunks.length).reduce((sum, { rows: made }) => sum + made.length, 0);
}

const RECIPES = `INSERT INTO recipes (hash, body)
  SELECT ${asBlob('value ->> 0')}, value ->> 1 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

// With a token of 0 they are the oldest: what was made here is looked at first. CROSS JOIN keeps the order from a record
// to its state; left to itself the planner went through all states for each record, 9 s for 3,000 of them.
const RECORDS = `INSERT INTO records (state_id, cache_key, token, recipe, deps, outs, skipped)
  SELECT s.id, ${asBlob('v.value ->> 2')}, 0, ${asBlob('v.value ->> 3')}, v.value ->> 4, v.value ->> 5, v.value ->> 6
  FROM json_each(?1) v
  CROSS JOIN workflows w ON w.name = ?2
  CROSS JOIN stages g ON g.workflow_id = w.id AND g.name = v.value ->> 0
  CROSS JOIN entities e ON e.workflow_id = w.id AND e.name = v.value ->> 1
  CROSS JOIN states s ON s.stage_id = g.id AND s.entity_id = e.id
  WHERE true ON CONFLICT (state_id, cache_key) DO NOTHING RETURNING state_id`;
