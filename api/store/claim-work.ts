// Hands out up to N states to one runner: one INSERT that picks and numbers them, so that no two runners can get the
// same state, whichever way their requests interleave; and in the same batch what this makes of the states.

import type { ClaimBody, Claimed } from '../../schema/wire.ts';
import { argsOf, scopeOfState } from './around-state.ts';
import { type Row, type Statement, sql } from './database.ts';
import { asText, asTextOrNull } from './hashes.ts';
import { NEWEST_TOKEN } from './newest-token.ts';
import { type Kind, offersTo } from './offers.ts';
import { REASONS_OF, readReasons } from './reasons.ts';
import { Outdated, type Registered } from './registered.ts';
import { seenMachine } from './seen-machine.ts';
import type { Store } from './store.ts';
import { SWEEP_DUE, sweep } from './sweep.ts';

export interface ClaimResult {
  readonly items: readonly Claimed[];
}

/** Expired leases and due retries are put right here, before anybody is told that there is nothing to do. */
export async function claimWork(store: Store, body: ClaimBody): Promise<ClaimResult> {
  const first = await claimOnce(store, body);
  if (first.items.length === body.limit || !first.isSweepDue) return first;
  await sweep(store);
  const rest = await claimOnce(store, { ...body, limit: body.limit - first.items.length });
  return { items: [...first.items, ...rest.items] };
}

interface Claims extends ClaimResult {
  /** Time has brought about something that nobody wrote down yet. */
  readonly isSweepDue: boolean;
}

function claimOnce(store: Store, body: ClaimBody): Promise<Claims> {
  return store.registered.decide(async (known) => {
    const { free, labels, away, runner, targets } = body;
    const roots = away.map(({ definition: _, ...root }) => ({ ...root, state: 'troubled' }));
    const nowMs = store.nowMs();
    const sighting = {
      ...{ role: 'runner' as const, name: runner, target: targets.join(' '), nowMs },
      facts: { free, labels, ...(roots.length === 0 ? {} : { roots }) },
    };
    const seen = store.sightings.isTold(sighting) ? [] : [seenMachine(sighting)];
    const results = await store.db.batch([...seen, ...claiming(store, known, body)], 'write');
    if (seen.length > 0) store.sightings.told(sighting);
    const [details, state] = results.slice(-2);
    const { version, due } = state!.rows[0]!;
    // A stage that nobody here knows of yet may be what the runner waits for.
    if (version !== known.version) throw new Outdated();
    return { items: details!.rows.map((row) => toClaimed(known, row)), isSweepDue: due === 1 };
  });
}

function claiming(store: Store, known: Registered, body: ClaimBody): Statement[] {
  const [nowMs, nonce] = [store.nowMs(), store.nonce()];
  const { limit, runner, run = null, only } = body;
  const leaseUntil = nowMs + Math.round(body.lease_seconds * 1_000);
  const claims = offersTo(known, body).flatMap(({ kind, offers, isRanked }) => [
    sql(
      claimText(kind, { isRanked, only }),
      ...[offers, limit, runner, run, nowMs, leaseUntil, nonce, known.version],
      ...(only === undefined ? [] : argsOf(known, only)),
    ),
    sql(RUNNING, limit, nonce),
  ]);
  return [...claims, sql(DETAILS, limit, nonce), sql(SWEEP_DUE, nowMs)];
}

// What may be picked of one stage, `f`, in the order of its entities. A condition of one state goes where `/*wanted*/` stands.
const CANDIDATES = {
  // Everything it reads is settled; what is further up is only walked through if something there is not.
  ready: `SELECT c.id FROM states c
    WHERE c.stage_id = f.stage_id /*wanted*/ AND c.status = 'stale' AND c.blockers = 0
      AND (f.far = 0 OR NOT EXISTS (
        WITH RECURSIVE up (id) AS (
          SELECT p.maker_id FROM inputs i JOIN paths p ON p.id = i.path_id
            WHERE i.state_id = c.id AND p.maker_id IS NOT NULL
          UNION
          SELECT p.maker_id FROM up JOIN inputs i ON i.state_id = up.id JOIN paths p ON p.id = i.path_id
            WHERE p.maker_id IS NOT NULL)
        SELECT 1 FROM up JOIN states u ON u.id = up.id WHERE u.settled = 0))
    ORDER BY c.entity_id LIMIT ?2`,
  // A collection that need not wait for all of its members: waited long enough, or those missing gave up.
  lenient: `SELECT c.id FROM states c
    WHERE c.stage_id = f.stage_id /*wanted*/ AND c.status = 'stale' AND c.blockers > 0
      AND NOT EXISTS (SELECT 1 FROM inputs i JOIN paths p ON p.id = i.path_id
        WHERE i.state_id = c.id AND i.member = 0 AND p.told > 0)
      AND EXISTS (SELECT 1 FROM inputs i JOIN paths p ON p.id = i.path_id
        WHERE i.state_id = c.id AND p.hash IS NOT NULL)
      AND (c.stale_since <= ?5 - f.max_wait OR (f.omits AND NOT EXISTS (
        SELECT 1 FROM inputs i JOIN paths p ON p.id = i.path_id JOIN states m ON m.id = p.maker_id
        WHERE i.state_id = c.id AND p.told = 1 AND m.status <> 'exhausted' AND NOT EXISTS (
          WITH RECURSIVE up (id) AS (
            SELECT q.maker_id FROM inputs j JOIN paths q ON q.id = j.path_id
              WHERE j.state_id = m.id AND q.maker_id IS NOT NULL
            UNION
            SELECT q.maker_id FROM up JOIN inputs j ON j.state_id = up.id JOIN paths q ON q.id = j.path_id
              WHERE q.maker_id IS NOT NULL)
          SELECT 1 FROM up JOIN states u ON u.id = up.id WHERE u.status = 'exhausted'))))
    ORDER BY c.entity_id LIMIT ?2`,
  orphaned: `SELECT c.id FROM states c
    WHERE c.stage_id = f.stage_id /*wanted*/ AND c.status = 'orphan' AND c.source = 0
    ORDER BY c.entity_id LIMIT ?2`,
} as const;

/** Of which stages there is anything to pick: by jumping along the index, at the cost of those that there are. */
const PICKABLE: Readonly<Record<Kind, string>> = {
  ready: "status = 'stale' AND blockers = 0",
  lenient: "status = 'stale' AND blockers > 0",
  orphaned: "status = 'orphan' AND source = 0",
};

/** How many of the limit, `?2`, this request has not used up by another kind of claim. */
const LEFT = `?2 - (SELECT count(*) FROM attempts WHERE token > ${NEWEST_TOKEN} - ?2 AND claim = ?7)`;

interface Shape {
  readonly isRanked: boolean;
  readonly only: ClaimBody['only'];
}

/** Per stage the first N by index: the cost is that of N rows per stage, not of what is waiting. */
function claimText(kind: Kind, { isRanked, only }: Shape): string {
  const candidates = CANDIDATES[kind].replace(
    '/*wanted*/',
    only === undefined ? '' : 'AND c.id IN (SELECT id FROM wanted)',
  );
  const wanted = only === undefined ? '' : `wanted AS MATERIALIZED (${scopeOfState(only, 9)}),`;
  const next = `SELECT min(stage_id) AS stage_id FROM states WHERE ${PICKABLE[kind]}`;
  return `INSERT INTO attempts
      (state_id, workflow_id, stage_id, entity_id, runner, run, claim, kind, started_at, lease_until)
    WITH RECURSIVE ${wanted} live AS (
      ${next} UNION ALL
      SELECT (${next} AND stage_id > live.stage_id) FROM live WHERE live.stage_id IS NOT NULL),
    asked AS MATERIALIZED (
      SELECT stage_id, offer ->> 0 AS workflow_id, offer ->> 1 AS priority, offer ->> 2 AS depth, offer ->> 3 AS whole,
             offer ->> 4 AS most, offer ->> 5 AS counts_states, offer ->> 6 AS max_wait, offer ->> 7 AS omits
      FROM (SELECT stage_id, ?1 -> ('$.' || stage_id) AS offer FROM live)
      WHERE offer IS NOT NULL AND (SELECT value FROM counters WHERE name = 'registry') = ?8),
    fit AS MATERIALIZED (
      SELECT a.*, EXISTS (${linkedAndOpen('far')}) AS far FROM asked a WHERE NOT EXISTS (${linkedAndOpen('after')}))
    SELECT id, workflow_id, stage_id, entity_id, ?3, ?4, ?7, '${kind === 'orphaned' ? 'clean' : 'make'}', ?5, ?6
    FROM (${isRanked ? ranked(kind, candidates) : inOrder(kind, candidates)})`;
}

/** By priority, entity, depth (SEMANTICS 21). */
function inOrder(kind: Kind, candidates: string): string {
  return `SELECT s.id, f.workflow_id, f.stage_id, s.entity_id
    FROM fit f JOIN states s ON s.id IN (${candidates})
    WHERE NOT (f.whole AND f.far)
    ORDER BY f.priority DESC, s.entity_id, f.depth, f.stage_id LIMIT ${kind === 'ready' ? '?2' : LEFT}`;
}

/** Workflows in turn, each in that order, and of each only as many as it lets through. */
function ranked(kind: Kind, candidates: string): string {
  return `WITH ready AS MATERIALIZED (
      SELECT s.id, s.entity_id, f.stage_id, f.workflow_id, f.priority, f.depth, f.most, f.counts_states,
             f.counts_states = 0 AND EXISTS (SELECT 1 FROM states r
               WHERE r.workflow_id = f.workflow_id AND r.entity_id = s.entity_id AND r.status = 'running') AS is_live
      FROM fit f JOIN states s ON s.id IN (${candidates})
      WHERE NOT (f.whole AND f.far)),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY workflow_id ORDER BY priority DESC, entity_id, depth, stage_id) AS turn,
             CASE WHEN counts_states THEN row_number() OVER w ELSE dense_rank() OVER w END AS newcomer
      FROM ready WINDOW w AS (PARTITION BY workflow_id, is_live ORDER BY entity_id))
    SELECT id, workflow_id, stage_id, entity_id FROM ranked r
    WHERE most IS NULL OR is_live OR newcomer <= most - (
      SELECT CASE WHEN r.counts_states THEN count(*) ELSE count(DISTINCT l.entity_id) END
      FROM states l WHERE l.workflow_id = r.workflow_id AND l.status = 'running')
    ORDER BY turn, workflow_id LIMIT ${kind === 'ready' ? '?2' : LEFT}`;
}

function linkedAndOpen(kind: 'after' | 'far'): string {
  return `SELECT 1 FROM stage_links l JOIN counts n ON n.stage_id = l.upstream_id
    WHERE l.stage_id = a.stage_id AND l.kind = '${kind}' AND n.n > 0
      AND n.word NOT IN ('fresh', 'edited', 'skipped', 'orphan')`;
}

// In bulk and not by trigger: a statement of a trigger opens every index of the table anew for each row, which made
// this twice as much.
const RUNNING = `UPDATE states SET status = 'running', token = x.token, lease_until = x.lease_until
  FROM (SELECT token, state_id, lease_until FROM attempts WHERE token > ${NEWEST_TOKEN} - ?1 AND claim = ?2) x
  WHERE states.id = x.state_id AND states.status <> 'running'`;

const DETAILS = `SELECT a.token, a.kind, a.stage_id, e.name AS entity, s.made_token IS NOT NULL AS made_here,
    coalesce(f.failures, 0) AS failures, ${asTextOrNull('f.cache_key')} AS failed_key,
    ${REASONS_OF('s.id')} AS reasons,
    (SELECT json_group_array(json_object('cache_key', ${asText('r.cache_key')}, 'outs', json(r.outs),
       'deps', json(r.deps), 'recipe', ${asTextOrNull('r.recipe')},
       'skipped', json(CASE WHEN r.skipped THEN 'true' ELSE 'false' END)))
     FROM (SELECT * FROM records WHERE state_id = s.id ORDER BY token DESC) r) AS records
  FROM attempts a JOIN states s ON s.id = a.state_id JOIN entities e ON e.id = a.entity_id
  LEFT JOIN failures f ON f.state_id = s.id
  WHERE a.token > ${NEWEST_TOKEN} - ?1 AND a.claim = ?2
  ORDER BY a.token`;

function toClaimed(known: Registered, row: Row): Claimed {
  const { of, stage, target } = known.stages.get(row.stage_id as number)!;
  return {
    token: row.token as number,
    kind: row.kind as Claimed['kind'],
    workflow: of.name,
    definition: known.workflows.get(of.name)!.definition,
    root: of.root,
    stage: stage.id,
    entity: row.entity as string,
    target,
    failures: row.failures as number,
    failed_key: row.failed_key as string | null,
    reasons: readReasons(row.reasons as string) as Claimed['reasons'],
    records: JSON.parse(row.records as string) as Claimed['records'],
    made_here: row.made_here === 1,
  };
}
