// Hands out up to N states to one runner: one INSERT that picks, leases and numbers them, so that no two runners can
// get the same state, whichever way their requests interleave.

import { fits, type Offer, offerOf } from '../../schema/offer.ts';
import type { ClaimBody, Claimed } from '../../schema/wire.ts';
import { argsOf, scopeOfState } from './around-state.ts';
import { type Row, type Statement, sql } from './database.ts';
import { asText, asTextOrNull } from './hashes.ts';
import { NEWEST_TOKEN } from './newest-token.ts';
import { REASONS_OF, readReasons } from './reasons.ts';
import type { Registered } from './registered.ts';
import { seenMachine } from './seen-machine.ts';
import type { Store } from './store.ts';
import { sweep } from './sweep.ts';

export interface ClaimResult {
  readonly items: readonly Claimed[];
}

/** Expired leases and due retries are put right here, before anybody is told that there is nothing to do. */
export async function claimWork(store: Store, body: ClaimBody): Promise<ClaimResult> {
  const items = await claimOnce(store, body, 'ready');
  if (items.length === body.limit) return { items };
  const swept = await sweep(store);
  const kinds: readonly Kind[] = swept > 0 ? ['ready', 'lenient', 'orphaned'] : ['lenient', 'orphaned'];
  for (const kind of kinds) {
    const limit = body.limit - items.length;
    if (limit > 0) items.push(...(await claimOnce(store, { ...body, limit }, kind)));
  }
  return { items };
}

type Kind = keyof typeof CANDIDATES;

async function claimOnce(store: Store, body: ClaimBody, kind: Kind): Promise<Claimed[]> {
  return store.registered.decide(async (known) => {
    const offers = offersTo(known, body).filter(({ kinds }) => kinds.includes(kind));
    // A stage that nobody knew of yet may be what the runner waits for.
    if (offers.length === 0) return (await isCurrent(store, known)) ? [] : claimOnce(store, body, kind);
    const [, details] = await store.db.batch(statements(store, known, { body, kind, offers }), 'write');
    const items = details!.rows.filter(({ token }) => token !== null);
    if (items.length === 0 && !(await isCurrent(store, known))) return claimOnce(store, body, kind);
    return items.map((row) => toClaimed(known, row));
  });
}

async function isCurrent({ registered }: Store, { version }: Registered): Promise<boolean> {
  return (await registered.checked()).version === version;
}

function offersTo(known: Registered, body: ClaimBody): readonly Offer[] {
  const { workflow, workflows, definitions, stages } = body;
  return [...known.stages.values()].flatMap((placed): readonly Offer[] => {
    const { paused, definition } = known.workflows.get(placed.of.name)!;
    const isAsked =
      (workflow === undefined || placed.of.name === workflow) &&
      (workflows === undefined || workflows.includes(placed.of.name)) &&
      (definitions === undefined || definitions.includes(definition)) &&
      (stages === undefined || stages.includes(placed.stage.id));
    return isAsked && !paused && fits(placed, body) ? [offerOf(placed)] : [];
  });
}

interface Asked {
  readonly body: ClaimBody;
  readonly kind: Kind;
  readonly offers: readonly Offer[];
}

function statements(store: Store, known: Registered, { body, kind, offers }: Asked): Statement[] {
  const { version } = known;
  const [nowMs, nonce] = [store.nowMs(), store.nonce()];
  const rows = offers.map((offer) => [
    ...[offer.stage, offer.workflow, offer.priority, offer.depth, offer.whole ? 1 : 0],
    ...[offer.most, offer.countsStates ? 1 : 0, offer.maxWaitMs, offer.omitsFailed ? 1 : 0],
  ]);
  const leaseUntil = nowMs + Math.round(body.lease_seconds * 1_000);
  const facts = { free: body.free, labels: body.labels };
  return [
    sql(
      claimText(kind, body.only),
      ...[JSON.stringify(rows), body.limit, body.runner, body.run ?? null, nowMs, leaseUntil, nonce, version],
      ...(body.only === undefined ? [] : argsOf(known, body.only)),
    ),
    sql(DETAILS, body.limit, nonce),
    seenMachine({ role: 'runner', name: body.runner, target: body.targets.join(' '), nowMs, facts }),
  ];
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

/**
 * Per stage the first N by index, then: workflows in turn, in each by priority, entity, depth (SEMANTICS 21). The
 * cost is that of N rows per stage, not of what is waiting. Tokens go on from the greatest there is.
 */
function claimText(kind: Kind, only: ClaimBody['only']): string {
  const wanted = only === undefined ? '' : 'AND c.id IN (SELECT id FROM wanted)';
  const scope = only === undefined ? '' : `wanted AS MATERIALIZED (${scopeOfState(only, 9)}),`;
  return `INSERT INTO attempts
      (token, state_id, workflow_id, stage_id, entity_id, runner, run, claim, kind, started_at, lease_until)
    WITH ${scope} asked AS MATERIALIZED (
      SELECT value ->> 0 AS stage_id, value ->> 1 AS workflow_id, value ->> 2 AS priority, value ->> 3 AS depth,
             value ->> 4 AS whole, value ->> 5 AS most, value ->> 6 AS counts_states,
             value ->> 7 AS max_wait, value ->> 8 AS omits
      FROM json_each(?1) WHERE (SELECT value FROM counters WHERE name = 'registry') = ?8),
    fit AS MATERIALIZED (
      SELECT a.*, EXISTS (${linkedAndOpen('far')}) AS far FROM asked a WHERE NOT EXISTS (${linkedAndOpen('after')})),
    ready AS MATERIALIZED (
      SELECT s.id, s.entity_id, f.stage_id, f.workflow_id, f.priority, f.depth, f.most, f.counts_states,
             f.counts_states = 0 AND EXISTS (SELECT 1 FROM states r
               WHERE r.workflow_id = f.workflow_id AND r.entity_id = s.entity_id AND r.status = 'running') AS is_live
      FROM fit f JOIN states s ON s.id IN (${CANDIDATES[kind].replace('/*wanted*/', wanted)})
      WHERE NOT (f.whole AND f.far)),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY workflow_id ORDER BY priority DESC, entity_id, depth, stage_id) AS turn,
             CASE WHEN counts_states THEN row_number() OVER w ELSE dense_rank() OVER w END AS newcomer
      FROM ready WINDOW w AS (PARTITION BY workflow_id, is_live ORDER BY entity_id)),
    picked AS (
      SELECT * FROM ranked r
      WHERE most IS NULL OR is_live OR newcomer <= most - (
        SELECT CASE WHEN r.counts_states THEN count(*) ELSE count(DISTINCT l.entity_id) END
        FROM states l WHERE l.workflow_id = r.workflow_id AND l.status = 'running')
      ORDER BY turn, workflow_id LIMIT ?2)
    SELECT ${NEWEST_TOKEN} + row_number() OVER (ORDER BY turn, workflow_id),
           id, workflow_id, stage_id, entity_id, ?3, ?4, ?7, '${kind === 'orphaned' ? 'clean' : 'make'}', ?5, ?6
    FROM picked`;
}

function linkedAndOpen(kind: 'after' | 'far'): string {
  return `SELECT 1 FROM stage_links l JOIN counts n ON n.stage_id = l.upstream_id
    WHERE l.stage_id = a.stage_id AND l.kind = '${kind}' AND n.n > 0
      AND n.word NOT IN ('fresh', 'edited', 'skipped', 'orphan')`;
}

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
