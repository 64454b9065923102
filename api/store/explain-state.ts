// Why a state is as it is: its own reasons, and below them those of everything upstream that is not settled.
//
// Two round trips whatever there is to tell: one finds the unsettled states above, the other what is known of them.

import type { NamedState, ToldReason, WhyAnswer } from '../../schema/read-answers.ts';
import { explain } from '../../schema/reason.ts';
import type { StoredWord } from '../../schema/status-words.ts';
import { type Row, sql } from './database.ts';
import { isoTime, lookUp, relativeTo } from './look-up.ts';
import type { Store } from './store.ts';
import { TOLD_COLUMNS, toldReasons } from './told-reasons.ts';

const MOST_NODES = 500;
const MOST_DEPTH = 30;
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
  return new Tree(details!, omits).link(edges!, missing!, after!).tell(ids[0]!);
}

interface Node {
  readonly row: Row;
  readonly waitsFor: string[];
  readonly after: Row[];
  readonly upstream: Edge[];
  /** Unsettled states directly above, told or not. */
  open: number;
}

interface Edge {
  readonly to: number;
  /** It is of no use while that one has given up. */
  readonly blocks: boolean;
}

class Tree {
  readonly #nodes: ReadonlyMap<number, Node>;
  readonly #omits: (stage: number) => boolean;
  readonly #told = new Set<number>();
  readonly #gaveUp = new Map<number, ReadonlySet<number>>();

  constructor(details: readonly Row[], omits: (stage: number) => boolean) {
    this.#nodes = new Map(
      details.map((row) => [row.id as number, { row, waitsFor: [], after: [], upstream: [], open: 0 }]),
    );
    this.#omits = omits;
  }

  link(edges: readonly Row[], missing: readonly Row[], after: readonly Row[]): this {
    const nodeOf = ({ state_id }: Row) => this.#nodes.get(state_id as number)!;
    for (const row of missing) nodeOf(row).waitsFor.push(row.path as string);
    for (const row of after) nodeOf(row).after.push(row);
    for (const row of edges) {
      const node = nodeOf(row);
      node.open += 1;
      const blocks = row.member === 0 || !this.#omits(node.row.stage_id as number);
      if (this.#nodes.has(row.maker as number)) node.upstream.push({ to: row.maker as number, blocks });
    }
    return this;
  }

  /** What is only reached through settled states stands directly below the state that was asked about. */
  tell(root: number): WhyAnswer {
    const reached = this.#reachedFrom(root);
    const isBelow = new Set(
      [...this.#nodes.values()].flatMap(({ upstream }) => upstream.map(({ to }) => to)),
    );
    const top = this.#nodes.get(root)!;
    for (const to of this.#nodes.keys()) {
      if (reached.has(to) || isBelow.has(to)) continue;
      top.upstream.push({ to, blocks: true });
      top.open += 1;
    }
    return this.#tell(root, 0);
  }

  #tell(id: number, depth: number): WhyAnswer {
    this.#told.add(id);
    const node = this.#nodes.get(id)!;
    const { row, upstream, waitsFor, after } = node;
    const gaveUp = this.#gaveUpAbove(id);
    const told: WhyAnswer[] = [];
    for (const { to } of upstream)
      if (!this.#told.has(to) && depth < MOST_DEPTH) told.push(this.#tell(to, depth + 1));
    return {
      ...nameOf(row),
      status: row.status as StoredWord,
      ...wordOf(node, gaveUp.size > 0),
      reasons: toldReasons(row, row.root as string).map(
        (reason): ToldReason => ({ ...reason, sentence: explain(reason) }),
      ),
      waits_for: waitsFor.map((path) => relativeTo(row.root as string, path)),
      after: after.map((each) => ({
        workflow: each.workflow as string,
        stage: each.stage as string,
        unsettled: each.unsettled as number,
      })),
      retry_at: row.status === 'failed' ? isoTime(row.retry_at) : null,
      blocked_by: [...gaveUp].map((each) => nameOf(this.#nodes.get(each)!.row)),
      upstream: told,
      ...(node.open > told.length ? { more: node.open - told.length } : {}),
    };
  }

  #reachedFrom(root: number): ReadonlySet<number> {
    const reached = new Set<number>();
    const open = [root];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...this.#nodes.get(next)!.upstream.map(({ to }) => to));
    }
    return reached;
  }

  #gaveUpAbove(id: number): ReadonlySet<number> {
    const known = this.#gaveUp.get(id);
    if (known !== undefined) return known;
    const above = new Set<number>();
    this.#gaveUp.set(id, above);
    for (const { to, blocks } of this.#nodes.get(id)!.upstream) {
      if (!blocks) continue;
      if (this.#nodes.get(to)!.row.status === 'exhausted') above.add(to);
      for (const each of this.#gaveUpAbove(to)) above.add(each);
    }
    return above;
  }
}

function nameOf(row: Row): NamedState {
  return { workflow: row.workflow as string, stage: row.stage as string, entity: row.entity as string };
}

function wordOf(node: Node, isBlocked: boolean): Pick<WhyAnswer, 'word' | 'cause'> {
  const { row, waitsFor, after, open } = node;
  if (row.status === 'failed') return { word: 'failed', cause: 'retry' };
  if (row.status !== 'stale') return { word: row.status as StoredWord, cause: null };
  if (isBlocked || after.some(({ gave_up }) => gave_up === 1)) return { word: 'blocked', cause: 'gave-up' };
  if (waitsFor.length > 0) return { word: 'waiting', cause: 'missing' };
  if (open > 0) return { word: 'waiting', cause: 'upstream' };
  return after.length > 0 ? { word: 'waiting', cause: 'after' } : { word: 'stale', cause: null };
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
