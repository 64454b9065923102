// A page of a workflow's entities with everything that is known of each, oldest first: for those who copy it all.

import type { EntityAnswer } from '../../schema/read-answers.ts';
import { type Row, sql } from './database.ts';
import { lookUp } from './look-up.ts';
import { entityOf, STATES_OF } from './read-entity.ts';
import type { Store } from './store.ts';

export interface ManifestPage {
  readonly entities: readonly EntityAnswer[];
  /** Null on the last page. */
  readonly next: number | null;
}

export interface ManifestQuery {
  readonly workflow: string;
  /** The cursor of the page before; 0 for the first. */
  readonly after: number;
  readonly limit: number;
}

/** Null if there is no such workflow. */
export async function listManifests(
  store: Store,
  { workflow, after, limit }: ManifestQuery,
): Promise<ManifestPage | null> {
  const found = await lookUp(store, workflow, (of) => [sql(PAGE, of.id, after, limit)]);
  if (found === null) return null;
  const byEntity = new Map<number, Row[]>();
  for (const row of found.results[0]!.rows) {
    const id = row.id as number;
    const rows = byEntity.get(id);
    if (rows === undefined) byEntity.set(id, [row]);
    else rows.push(row);
  }
  const entities = [...byEntity.values()].flatMap(
    (rows) => entityOf(found.known, rows[0]!.name as string, rows) ?? [],
  );
  return { entities, next: byEntity.size === limit ? [...byEntity.keys()].at(-1)! : null };
}

const PAGE = `WITH page AS MATERIALIZED (
    SELECT DISTINCT entity_id FROM states INDEXED BY states_entity
    WHERE workflow_id = ?1 AND entity_id > ?2 ORDER BY entity_id LIMIT ?3)
  ${STATES_OF}
  FROM page CROSS JOIN entities e ON e.id = page.entity_id
    CROSS JOIN states s INDEXED BY states_entity ON s.workflow_id = ?1 AND s.entity_id = e.id
    LEFT JOIN failures f ON f.state_id = s.id
  ORDER BY e.id`;
