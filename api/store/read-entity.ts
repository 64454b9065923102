// Everything that is known of one entity: what each stage made of it, from what, and what failed.

import { rootOn } from '../../schema/discovery/place.ts';
import type { PlacedPath, PlacedStage } from '../../schema/discovery/registry.ts';
import { bindingsOf } from '../../schema/discovery/registry.ts';
import { expandPattern } from '../../schema/pattern.ts';
import type { EntityAnswer, ManifestState } from '../../schema/read-answers.ts';
import { type Row, sql } from './database.ts';
import { asTextOrNull } from './hashes.ts';
import { inputHashes } from './input-hashes.ts';
import { isoTime, lookUp, relativeTo } from './look-up.ts';
import type { Registered } from './registered.ts';
import type { Store } from './store.ts';

/** Null if there is no such workflow, or none of its stages has such an entity. */
export async function readEntity(
  store: Store,
  { workflow, entity }: { readonly workflow: string; readonly entity: string },
): Promise<EntityAnswer | null> {
  const found = await lookUp(store, workflow, (of) => [sql(ONE, of.id, entity)]);
  return found === null ? null : entityOf(found.known, entity, found.results[0]!.rows);
}

/** Null if none of the rows, of `STATES_OF` it, is of a stage that the workflow still has. */
export function entityOf(known: Registered, entity: string, stateRows: readonly Row[]): EntityAnswer | null {
  const rows = stateRows.flatMap((row) => {
    const placed = known.stages.get(row.stage_id as number);
    return placed === undefined ? [] : [{ row, placed }];
  });
  if (rows.length === 0) return null;
  const inOrder = rows.toSorted((a, b) => a.placed.depth - b.placed.depth);
  const states = inOrder.map(({ row, placed }): [string, ManifestState] => [
    placed.stage.id,
    row.source === 1 ? sourceState(placed, row, entity) : madeState(known, placed, row, entity),
  ]);
  const failures = inOrder.filter(({ row }) => row.error !== null);
  return {
    id: entity,
    manifest: { entity_id: entity, states: Object.fromEntries(states) },
    failures: Object.fromEntries(failures.map(({ row, placed }) => [placed.stage.id, failureOf(row)])),
  };
}

function sourceState(placed: PlacedStage, row: Row, entity: string): ManifestState {
  const [known] = JSON.parse(row.sources as string) as [string, number | null, string | null][];
  return {
    path: expected(placed, entity) ?? (known === undefined ? '' : shown(placed, placed.outs[0], known[0])),
    is_source: true,
    discovered_at: isoTime(known?.[1] ?? row.discovered_at),
    content_hash: known?.[2] ?? null,
    status: row.status as 'fresh',
  };
}

function madeState(known: Registered, placed: PlacedStage, row: Row, entity: string): ManifestState {
  const { of, stage } = placed;
  const made = row.made as string | null;
  return {
    path: expected(placed, entity) ?? (made === null ? null : shown(placed, placed.outs[0], made)),
    code_hash: row.code_hash as string | null,
    content_hash: row.content_hash as string | null,
    produced_at: isoTime(row.produced_at),
    produced_by: row.produced_at === null ? null : `${of.name}#${stage.id}`,
    input_hashes: inputHashes(known, placed, row.deps as string | null),
    status: row.word as 'stale',
    cache_key: row.cache_key as string | null,
    runner: row.produced_by as string | null,
  };
}

function failureOf(row: Row): EntityAnswer['failures'][string] {
  return {
    error: row.error as string,
    error_details: row.details as string | null,
    attempts: row.failures as number,
    first_failed_at: isoTime(row.first_failed_at)!,
    last_failed_at: isoTime(row.last_failed_at)!,
    next_retry_at: isoTime(row.retry_at),
  };
}

/** The first out for this entity. A fan-out's entity is a file, which does not tell the values of variables. */
function expected(placed: PlacedStage, entity: string): string | null {
  const [out] = placed.outs;
  if (out === undefined || placed.stage.fanOut !== null) return null;
  const path = expandPattern(out.pattern, bindingsOf(placed.stage, entity));
  return path === null ? null : shown(placed, out, path);
}

function shown({ of }: PlacedStage, out: PlacedPath | undefined, path: string): string {
  return relativeTo(out === undefined ? of.root : rootOn(of, out.target), path);
}

const NEWEST = (column: string) =>
  `(SELECT ${column} FROM records r WHERE r.state_id = s.id ORDER BY r.token DESC LIMIT 1)`;

/** What is to be asked of `e`, the entities, and `s`, their states. */
export const STATES_OF = `SELECT e.id, e.name, s.stage_id, s.source, s.status, s.word, s.produced_at, s.produced_by, e.discovered_at,
    ${asTextOrNull('s.cache_key')} AS cache_key, ${asTextOrNull('s.content_hash')} AS content_hash,
    ${NEWEST(asTextOrNull('r.recipe'))} AS code_hash, ${NEWEST('r.deps')} AS deps,
    (SELECT p.path FROM paths p WHERE p.maker_id = s.id ORDER BY p.id LIMIT 1) AS made,
    (SELECT json_group_array(json_array(p.path, p.discovered_at, ${asTextOrNull('p.hash')}))
     FROM (SELECT path_id FROM inputs WHERE state_id = s.id AND s.source = 1 LIMIT 1) i
     JOIN paths p ON p.id = i.path_id) AS sources,
    f.failures, f.error, f.details, f.first_failed_at, f.last_failed_at, f.retry_at`;

const ONE = `${STATES_OF}
  FROM entities e JOIN states s ON s.workflow_id = e.workflow_id AND s.entity_id = e.id
  LEFT JOIN failures f ON f.state_id = s.id
  WHERE e.workflow_id = ? AND e.name = ?`;
