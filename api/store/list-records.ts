// The newest record of every settled state of a workflow, page by page: what a lock file is written from.

import { sql } from './database.ts';
import { asText, asTextOrNull } from './hashes.ts';
import type { Store } from './store.ts';

export interface ListedRecord {
  readonly id: number;
  readonly stage: string;
  readonly entity: string;
  readonly cache_key: string;
  readonly recipe: string | null;
  readonly deps: readonly unknown[];
  readonly outs: readonly unknown[];
  readonly skipped: boolean;
  readonly produced_at: string | null;
}

export async function listRecords(
  { db }: Store,
  page: { readonly workflow: string; readonly after: number; readonly limit: number },
): Promise<ListedRecord[]> {
  const [found] = await db.batch([sql(RECORDS, page.workflow, page.after, page.limit)], 'read');
  return found!.rows.map((row) => ({
    id: row.id as number,
    stage: row.stage as string,
    entity: row.entity as string,
    cache_key: row.cache_key as string,
    recipe: row.recipe as string | null,
    deps: JSON.parse(row.deps as string),
    outs: JSON.parse(row.outs as string),
    skipped: row.skipped === 1,
    produced_at: row.produced_at === null ? null : new Date(row.produced_at as number).toISOString(),
  }));
}

export async function readRecipe({ db }: Store, hash: Uint8Array): Promise<unknown> {
  const [found] = await db.batch([sql('SELECT body FROM recipes WHERE hash = ?', hash)], 'read');
  const body = found!.rows[0]?.body;
  return body === undefined ? null : JSON.parse(body as string);
}

const RECORDS = `SELECT s.id, g.name AS stage, e.name AS entity, ${asText('r.cache_key')} AS cache_key,
    ${asTextOrNull('r.recipe')} AS recipe, r.deps, r.outs, r.skipped, s.produced_at
  FROM states s JOIN records r ON r.state_id = s.id AND r.cache_key = s.cache_key
  JOIN stages g ON g.id = s.stage_id JOIN entities e ON e.id = s.entity_id
  WHERE s.workflow_id = (SELECT id FROM workflows WHERE name = ?1) AND s.id > ?2 AND s.status IN ('fresh', 'skipped', 'edited')
  ORDER BY s.id LIMIT ?3`;
