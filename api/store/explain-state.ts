// Why a state is as it is: its own reasons, and below them those of everything upstream that is not settled.
//
// Two round trips whatever there is to tell: one finds the unsettled states above, the other what is known of them.

import type { WhyAnswer } from '../../schema/read-answers.ts';
import { sql } from './database.ts';
import { lookUp } from './look-up.ts';
import type { Store } from './store.ts';
import { TOLD_COLUMNS } from './told-reasons.ts';
import { WhyTree } from './why-tree.ts';

const MOST_NODES = 500;
/** States that are looked through for those worth telling. */
const MOST_LOOKED_THROUGH = 10_000;

export interface AskedState {
  readonly workflow: string;
  readonly stage: string;
  readonly entity: string;
}

/** Null if there is no such state. */
export async function explainState(store: Store, asked: AskedState): Promise<WhyAnswer | null> {
  const { workflow, stage, entity } = asked;
  const found = await lookUp(store, workflow, (of) => [
    sql(CLOSURE, of.stageIds.get(stage) ?? 0, of.id, entity, MOST_LOOKED_THROUGH, MOST_NODES),
  ]);
  const ids = found === null ? [] : found.results[0]!.rows.map(({ id }) => id as number);
  if (found === null || ids.length === 0) return null;
  const json = JSON.stringify(ids);
  const results = await store.db.batch(
    [sql(DETAILS, json), sql(EDGES, json), sql(MISSING, json), sql(AFTER, json)],
    'read',
  );
  const [details, edges, missing, after] = results.map(({ rows }) => rows);
  const omits = (id: number) => found.known.stages.get(id)?.stage.collect.onFailed === 'omit';
  return new WhyTree(details!, omits).link(edges!, missing!, after!).tell(ids[0]!);
}

// The state itself comes first, then what is unsettled above it. Two walks: through what is unsettled, which is what
// a person wants to see, and through everything, because a settled state may stand below an unsettled one.
const CLOSURE = `WITH RECURSIVE
  root (id) AS (SELECT s.id FROM states s WHERE s.stage_id = ?1
    AND s.entity_id = (SELECT e.id FROM entities e WHERE e.workflow_id = ?2 AND e.name = ?3)),
  near (id) AS (
    SELECT id FROM root
    UNION
    SELECT p.maker_id FROM near CROSS JOIN inputs i ON i.state_id = near.id CROSS JOIN paths p ON p.id = i.path_id
    WHERE p.told = 1 AND p.maker_id IS NOT NULL LIMIT ?4),
  up (id) AS (
    SELECT id FROM root
    UNION
    SELECT p.maker_id FROM up CROSS JOIN inputs i ON i.state_id = up.id CROSS JOIN paths p ON p.id = i.path_id
    WHERE p.maker_id IS NOT NULL LIMIT ?4),
  found (id, rank) AS (
    SELECT id, 0 FROM root
    UNION ALL SELECT id, 2 FROM near WHERE id NOT IN (SELECT id FROM root)
    UNION ALL SELECT id, 3 FROM up WHERE id NOT IN (SELECT id FROM near))
  SELECT s.id FROM found CROSS JOIN states s ON s.id = found.id WHERE rank = 0 OR s.settled = 0
  ORDER BY CASE WHEN rank > 0 AND s.status = 'exhausted' THEN 1 ELSE rank END, s.id LIMIT ?5`;

const DETAILS = `SELECT s.id, s.stage_id, w.name AS workflow, w.root, g.name AS stage, e.name AS entity, ${TOLD_COLUMNS}
  FROM json_each(?) v CROSS JOIN states s ON s.id = v.value CROSS JOIN stages g ON g.id = s.stage_id
    CROSS JOIN entities e ON e.id = s.entity_id CROSS JOIN workflows w ON w.id = s.workflow_id
    LEFT JOIN failures f ON f.state_id = s.id`;

const EDGES = `SELECT i.state_id, p.maker_id AS maker, min(i.member) AS member
  FROM json_each(?) v CROSS JOIN inputs i ON i.state_id = v.value CROSS JOIN paths p ON p.id = i.path_id
  WHERE p.told = 1 AND p.maker_id IS NOT NULL GROUP BY i.state_id, p.maker_id`;

/** As many as a person reads. */
const MISSING = `SELECT state_id, path FROM (
    SELECT i.state_id, p.path, row_number() OVER (PARTITION BY i.state_id ORDER BY p.id) AS nth
    FROM json_each(?) v CROSS JOIN inputs i ON i.state_id = v.value CROSS JOIN paths p ON p.id = i.path_id
    WHERE p.told = 2 AND i.member = 0)
  WHERE nth <= 20`;

const AFTER = `SELECT s.id AS state_id, w.name AS workflow, g.name AS stage, sum(c.n) AS unsettled,
    max(c.word = 'exhausted') AS gave_up
  FROM json_each(?) v CROSS JOIN states s ON s.id = v.value
    CROSS JOIN stage_links l ON l.stage_id = s.stage_id AND l.kind = 'after'
    CROSS JOIN counts c ON c.stage_id = l.upstream_id
      AND c.n > 0 AND c.word NOT IN ('fresh', 'edited', 'skipped', 'orphan')
    CROSS JOIN stages g ON g.id = l.upstream_id CROSS JOIN workflows w ON w.id = g.workflow_id
  WHERE s.status = 'stale' GROUP BY s.id, l.upstream_id`;
