// How a workflow stands, from counts that are kept with the rows: as cheap for a million entities as for one.

import type { StatusAnswer, StatusCounts } from '../../schema/read-answers.ts';
import { type CountedWord, pipelineWord } from '../../schema/status-words.ts';
import { type Row, sql } from './database.ts';
import { lookUp } from './look-up.ts';
import type { KnownWorkflow, Registered } from './registered.ts';
import type { Store } from './store.ts';

/** Of those that gave up, this many are followed downstream, and this many states are looked at there. */
const MOST_EXHAUSTED = 1_000;
const MOST_DOWNSTREAM = 20_000;

/** Null if there is no such workflow. */
export async function workflowStatus(store: Store, workflow: string): Promise<StatusAnswer | null> {
  const found = await lookUp(store, workflow, (of, known) => [
    sql(COUNTS, of.id),
    sql('SELECT n FROM entity_counts WHERE workflow_id = ?', of.id),
    sql(BLOCKED, of.id, omitting(known), MOST_EXHAUSTED, MOST_DOWNSTREAM),
    sql(HELD_UP, of.id),
  ]);
  if (found === null) return null;
  const [counts, entities, blocked, heldUp] = found.results.map(({ rows }) => rows);
  const stages = countStages(found.of, counts!);
  for (const { stage_id, n } of blocked!) addBlocked(stages.get(nameOf(found.of, stage_id)), n as number);
  for (const { stage_id } of heldUp!) {
    const held = stages.get(nameOf(found.of, stage_id));
    if (held !== undefined) held.blocked = held.stale;
  }
  const total = sum([...stages.values()]);
  return {
    entities: (entities![0]?.n ?? 0) as number,
    ...total,
    blocked_is_exact: total.exhausted < MOST_EXHAUSTED && blocked!.every(({ is_exact }) => is_exact === 1),
    paused: found.of.paused,
    stages: Object.fromEntries(stages),
  };
}

/** Stages that go on without the members that gave up, as a JSON list. */
function omitting({ stages }: Registered): string {
  const omits = [...stages.values()].filter(({ stage }) => stage.collect.onFailed === 'omit');
  return JSON.stringify(omits.map(({ id }) => id));
}

function countStages({ workflow, stageIds }: KnownWorkflow, rows: readonly Row[]): Map<string, StatusCounts> {
  const stages = new Map(workflow.stages.map(({ id }): [string, StatusCounts] => [id, { ...NONE }]));
  const names = new Map([...stageIds].map(([name, id]) => [id, name]));
  for (const { stage_id, word, n } of rows) {
    const counts = stages.get(names.get(stage_id as number) ?? '');
    if (counts !== undefined) count(counts, word as CountedWord, n as number);
  }
  return stages;
}

function count(counts: StatusCounts, word: CountedWord, n: number): void {
  const pipeline = pipelineWord(word);
  if (pipeline === 'stale' || pipeline === 'failed' || pipeline === 'processing') counts[pipeline] += n;
  if (word !== 'stale' && word !== 'failed' && word !== 'running') counts[word] += n;
}

function addBlocked(counts: StatusCounts | undefined, n: number): void {
  if (counts !== undefined) counts.blocked += n;
}

function nameOf({ stageIds }: KnownWorkflow, id: unknown): string {
  for (const [name, each] of stageIds) if (each === id) return name;
  return '';
}

function sum(all: readonly StatusCounts[]): StatusCounts {
  const total = { ...NONE };
  for (const counts of all)
    for (const word of Object.keys(NONE) as (keyof StatusCounts)[]) total[word] += counts[word];
  return total;
}

const NONE: StatusCounts = {
  ...{ stale: 0, failed: 0, processing: 0, fresh: 0, edited: 0 },
  ...{ skipped: 0, orphan: 0, waiting: 0, exhausted: 0, blocked: 0 },
};

const COUNTS = `SELECT c.stage_id, c.word, c.n FROM stages g CROSS JOIN counts c ON c.stage_id = g.id
  WHERE g.workflow_id = ? AND c.n > 0`;

// Downstream of what gave up, here or in a workflow that this one reads from. A settled state in between does not
// help: nothing is handed out while anything above it is unsettled.
const BLOCKED = `WITH RECURSIVE
  gave_up (id) AS (
    SELECT * FROM (SELECT id FROM states WHERE workflow_id = ?1 AND status = 'exhausted' LIMIT ?3)
    UNION ALL
    SELECT * FROM (SELECT s.id FROM workflows w CROSS JOIN states s ON s.workflow_id = w.id AND s.status = 'exhausted'
                   WHERE w.id <> ?1 LIMIT ?3)),
  down (id) AS (
    SELECT id FROM gave_up
    UNION
    SELECT s.id FROM down CROSS JOIN paths p ON p.maker_id = down.id CROSS JOIN inputs i ON i.path_id = p.id
      CROSS JOIN states s ON s.id = i.state_id
    WHERE s.source = 0 AND NOT (i.member = 1 AND s.stage_id IN (SELECT value FROM json_each(?2)))
    LIMIT ?4)
  SELECT s.stage_id, count(*) AS n,
    (SELECT count(*) FROM down) < ?4 AND (SELECT count(*) FROM gave_up) < ?3 AS is_exact
  FROM down CROSS JOIN states s ON s.id = down.id
  WHERE s.workflow_id = ?1 AND s.status = 'stale' GROUP BY s.stage_id`;

// Nothing of a stage starts before all of the stages that it comes after is settled.
const HELD_UP = `SELECT DISTINCT l.stage_id FROM stages g
  CROSS JOIN stage_links l ON l.stage_id = g.id AND l.kind = 'after'
  CROSS JOIN counts c ON c.stage_id = l.upstream_id AND c.word = 'exhausted' AND c.n > 0
  WHERE g.workflow_id = ?`;
