// Why a state is as it is: its own reasons, and below them those of everything upstream that is not settled.
//
// Two round trips whatever there is to tell: one finds the unsettled states above, the other what is known of them.

import type { NamedState, ToldReason, WhyAnswer } from '../../schema/read-answers.ts';
import { explain } from '../../schema/reason.ts';
import type { StateWord, StoredWord } from '../../schema/status-words.ts';
import { type Row, sql } from './database.ts';
import { isoTime, lookUp, relativeTo } from './look-up.ts';
import type { Store } from './store.ts';
import { TOLD_COLUMNS, toldReasons } from './told-reasons.ts';

const MOST_NODES = 500;
const MOST_DEPTH = 30;
/** Settled states that are looked through for unsettled ones behind them. */
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
    sql(CLOSURE, of.stageIds.get(stage) ?? 0, of.id, entity, MOST_LOOKED_THROUGH, MOST_NODES + 1),
  ]);
  const ids = found === null ? [] : found.results[0]!.rows.map(({ id }) => id as number);
  if (ids.length === 0) return null;
  const json = JSON.stringify(ids);
  const [details, edges, missing, after] = await store.db.batch(
    [sql(DETAILS, json), sql(EDGES, json), sql(MISSING, json), sql(AFTER, json)],
    'read',
  );
  const tree = new Tree(details!.rows, edges!.rows);
  for (const row of missing!.rows) tree.nodes.get(row.state_id as number)?.waitsFor.push(row.path as string);
  for (const row of after!.rows) tree.nodes.get(row.state_id as number)?.after.push(row);
  return tree.tell(ids[0]!);
}

interface Node {
  readonly row: Row;
  readonly waitsFor: string[];
  readonly after: Row[];
  readonly upstream: number[];
}

class Tree {
  readonly nodes: ReadonlyMap<number, Node>;
  readonly #told = new Set<number>();
  readonly #blockers = new Map<number, ReadonlySet<number>>();

  constructor(details: readonly Row[], edges: readonly Row[]) {
    this.nodes = new Map(
      details.map((row) => [row.id as number, { row, waitsFor: [], after: [], upstream: [] }]),
    );
    for (const { reader, maker } of edges) this.nodes.get(reader as number)?.upstream.push(maker as number);
  }

  /** What is only reached through settled states stands directly below the state that was asked about. */
  tell(root: number): WhyAnswer {
    const reached = this.#reachedFrom(root);
    const isSomebodys = new Set([...this.nodes.values()].flatMap(({ upstream }) => upstream));
    for (const id of this.nodes.keys())
      if (!reached.has(id) && !isSomebodys.has(id)) this.nodes.get(root)!.upstream.push(id);
    return this.#tell(root, 0);
  }

  #tell(id: number, depth: number): WhyAnswer {
    this.#told.add(id);
    const { row, waitsFor, after, upstream } = this.nodes.get(id)!;
    const root = row.root as string;
    const below: WhyAnswer[] = [];
    let more = 0;
    for (const next of upstream) {
      if (this.#told.has(next) || this.#told.size >= MOST_NODES || depth >= MOST_DEPTH) more += 1;
      else below.push(this.#tell(next, depth + 1));
    }
    const blockedBy = [...this.#gaveUpAbove(id)];
    return {
      ...nameOf(row),
      status: row.status as StoredWord,
      word: this.#wordOf(this.nodes.get(id)!, blockedBy),
      reasons: toldReasons(row, root).map((reason): ToldReason => ({ ...reason, sentence: explain(reason) })),
      waits_for: waitsFor.map((path) => relativeTo(root, path)),
      after: after.map((each) => ({
        workflow: each.workflow as string,
        stage: each.stage as string,
        unsettled: each.unsettled as number,
      })),
      retry_at: row.status === 'failed' ? isoTime(row.retry_at) : null,
      blocked_by: blockedBy.map((each) => nameOf(this.nodes.get(each)!.row)),
      upstream: below,
      ...(more > 0 ? { more } : {}),
    };
  }

  #wordOf({ row, waitsFor, after, upstream }: Node, blockedBy: readonly number[]): StateWord {
    if (row.status !== 'stale') return row.word as StateWord;
    if (blockedBy.length > 0 || after.some(({ gave_up }) => gave_up === 1)) return 'blocked';
    return waitsFor.length + after.length + upstream.length > 0 ? 'waiting' : (row.word as StateWord);
  }

  #reachedFrom(root: number): ReadonlySet<number> {
    const reached = new Set<number>();
    const open = [root];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(this.nodes.get(next)?.upstream ?? []));
    }
    return reached;
  }

  #gaveUpAbove(id: number): ReadonlySet<number> {
    const known = this.#blockers.get(id);
    if (known !== undefined) return known;
    const above = new Set<number>();
    this.#blockers.set(id, above);
    for (const next of this.nodes.get(id)!.upstream) {
      if (this.nodes.get(next)?.row.status === 'exhausted') above.add(next);
      for (const each of this.#gaveUpAbove(next)) above.add(each);
    }
    return above;
  }
}

function nameOf(row: Row): NamedState {
  return { workflow: row.workflow as string, stage: row.stage as string, entity: row.entity as string };
}

// The state itself comes first, then what is unsettled above it. Two walks: through what is unsettled, which is what
// a person wants to see first, and through everything, because a settled state may stand below an unsettled one.
const CLOSURE = `WITH RECURSIVE
  root (id) AS (SELECT s.id FROM states s WHERE s.stage_id = ?1
    AND s.entity_id = (SELECT e.id FROM entities e WHERE e.workflow_id = ?2 AND e.name = ?3)),
  near (id) AS (
    SELECT id FROM root
    UNION
    SELECT p.maker_id FROM near CROSS JOIN inputs i ON i.state_id = near.id CROSS JOIN paths p ON p.id = i.path_id
    WHERE p.told = 1 AND p.maker_id IS NOT NULL LIMIT ?5),
  up (id) AS (
    SELECT id FROM root
    UNION
    SELECT p.maker_id FROM up CROSS JOIN inputs i ON i.state_id = up.id CROSS JOIN paths p ON p.id = i.path_id
    WHERE p.maker_id IS NOT NULL LIMIT ?4)
  SELECT id, 0 AS far FROM near
  UNION ALL
  SELECT * FROM (SELECT up.id, 1 AS far FROM up CROSS JOIN states s ON s.id = up.id
    WHERE s.settled = 0 AND up.id NOT IN (SELECT id FROM near) LIMIT ?5)
  ORDER BY far LIMIT ?5`;

const DETAILS = `SELECT s.id, w.name AS workflow, w.root, g.name AS stage, e.name AS entity, ${TOLD_COLUMNS}
  FROM json_each(?) v CROSS JOIN states s ON s.id = v.value CROSS JOIN stages g ON g.id = s.stage_id
    CROSS JOIN entities e ON e.id = s.entity_id CROSS JOIN workflows w ON w.id = s.workflow_id
    LEFT JOIN failures f ON f.state_id = s.id`;

const EDGES = `SELECT DISTINCT i.state_id AS reader, p.maker_id AS maker
  FROM json_each(?1) v CROSS JOIN inputs i ON i.state_id = v.value CROSS JOIN paths p ON p.id = i.path_id
  WHERE p.told = 1 AND p.maker_id IN (SELECT value FROM json_each(?1))`;

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
