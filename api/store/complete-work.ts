// Takes results: only from the runner that holds the lease, each counted once, all in one batch.
//
// The first statement is the fence: it closes the attempts that are still current and marks them with this
// request's number; every later statement looks at that mark. What a result means for other states (readers of what
// it made, actions that come after it) follows by trigger.

import type { CompleteItem, ItemResult } from '../../schema/wire.ts';
import { type Statement, sql } from './database.ts';
import { firstAnswers } from './first-answers.ts';
import { asBlob } from './hashes.ts';
import type { Store } from './store.ts';

export interface Answered {
  readonly token: number;
  readonly result: ItemResult;
  readonly retry_at?: number | null;
}

export async function completeWork(
  store: Store,
  runner: string,
  items: readonly CompleteItem[],
): Promise<readonly Answered[]> {
  const [nowMs, nonce] = [store.nowMs(), store.nonce()];
  const json = JSON.stringify(items.map(({ recipe_body: _, ...item }) => item));
  const has = (check: (item: CompleteItem) => boolean) => items.some(check);
  const when = (condition: boolean, ...statements: Statement[]) => (condition ? statements : []);
  const isCleaned = has(({ outcome }) => outcome === 'cleaned');
  const before: Statement[] = [
    sql(CLOSE, json, runner, nowMs, nonce),
    ...when(
      has(({ consumed }) => consumed.length > 0),
      sql(CONSUMED, json, nonce, nowMs),
    ),
    ...when(
      has(({ outs }) => outs.length > 0),
      sql(MADE, json, nonce, nowMs),
    ),
    ...[...recipesOf(items)].map(([hash, body]) => sql(RECIPE, hash, body)),
    ...when(
      has(({ cache_key }) => cache_key !== undefined),
      sql(RECORD, json, nonce),
    ),
    ...when(isCleaned, sql(CLEANED_PATHS, json, nonce, nowMs)),
  ];
  const after = when(isCleaned, sql(CLEANED_STATES, json, nonce));
  const results = await store.db.batch([...before, sql(SETTLE, json, nonce, nowMs), ...after], 'write');
  const accepted = new Map<number, ItemResult>();
  for (const row of [...results[before.length]!.rows, ...(results[before.length + 1]?.rows ?? [])])
    accepted.set(row.token as number, row.status as ItemResult);
  const others = items.filter(({ token }) => !accepted.has(token)).map(({ token }) => token);
  const first = await firstAnswers(store, runner, others);
  return items.map(({ token }) => ({ token, result: accepted.get(token) ?? first.get(token) ?? 'lost' }));
}

function recipesOf(items: readonly CompleteItem[]): Map<string, string> {
  const bodies = items.flatMap(({ recipe, recipe_body }): [string, string][] =>
    recipe === undefined || recipe_body === undefined ? [] : [[recipe, JSON.stringify(recipe_body)]],
  );
  return new Map(bodies);
}

const CLOSE = `UPDATE attempts SET ended_at = ?3, closing = ?4, outcome = x.outcome, seconds = x.seconds,
    reasons = coalesce(x.reasons, attempts.reasons)
  FROM (SELECT value ->> 'token' AS token, value ->> 'outcome' AS outcome, value ->> 'seconds' AS seconds,
               value ->> 'reasons' AS reasons FROM json_each(?1)) x
  WHERE attempts.token = x.token AND attempts.ended_at IS NULL AND attempts.runner = ?2
    AND (x.outcome = 'cleaned') = (attempts.kind = 'clean')
    AND EXISTS (SELECT 1 FROM states s WHERE s.id = attempts.state_id AND s.token = attempts.token
                AND s.status = 'running')`;

/** The items that the fence let through. */
const ACCEPTED = `json_each(?1) v JOIN attempts a ON a.token = v.value ->> 'token' AND a.closing = ?2
  JOIN stages g ON g.id = a.stage_id`;

// A runner that read newer bytes than any watcher has reported is believed, unless the path changed since the claim.
const CONSUMED = `UPDATE paths SET hash = x.hash, seen_at = ?3, sequence = x.token - 1
  FROM (SELECT a.state_id, a.token, g.target, c.value ->> 'path' AS path, ${asBlob("c.value ->> 'hash'")} AS hash
        FROM ${ACCEPTED}, json_each(v.value, '$.consumed') c) x
  WHERE paths.target = x.target AND paths.path = x.path AND paths.hash IS NOT x.hash AND paths.sequence < x.token
    AND EXISTS (SELECT 1 FROM inputs i WHERE i.path_id = paths.id AND i.state_id = x.state_id)`;

// Only what the state is the maker of: a result cannot speak of other files.
const MADE = `UPDATE paths SET hash = x.hash, made_hash = x.hash, size = x.size, files = x.files, seen_at = ?3,
    discovered_at = coalesce(paths.discovered_at, ?3), sequence = (SELECT coalesce(max(token), 0) FROM attempts)
  FROM (SELECT a.state_id, g.target, o.value ->> 'path' AS path, ${asBlob("o.value ->> 'hash'")} AS hash,
               o.value ->> 'size' AS size, o.value ->> 'files' AS files
        FROM ${ACCEPTED}, json_each(v.value, '$.outs') o) x
  WHERE paths.target = x.target AND paths.path = x.path AND paths.maker_id = x.state_id`;

const RECIPE = `INSERT INTO recipes (hash, body) VALUES (${asBlob('?')}, ?) ON CONFLICT DO NOTHING`;

const RECORD = `INSERT INTO records (state_id, cache_key, token, recipe, deps, outs, skipped)
  SELECT a.state_id, ${asBlob("v.value ->> 'cache_key'")}, a.token, ${asBlob("v.value ->> 'recipe'")},
         v.value ->> 'deps', v.value ->> 'outs', v.value ->> 'outcome' = 'skipped'
  FROM ${ACCEPTED} WHERE v.value ->> 'cache_key' IS NOT NULL
  ON CONFLICT (state_id, cache_key) DO UPDATE SET token = excluded.token, recipe = excluded.recipe,
    deps = excluded.deps, outs = excluded.outs, skipped = excluded.skipped`;

/** The source was removed while it ran. */
const VANISHED = `(SELECT count(*) > 0 AND count(p.hash) = 0 AND count(p.maker_id) = 0
  FROM inputs i JOIN paths p ON p.id = i.path_id WHERE i.state_id = states.id AND i.driver = 1)`;

// Stale on arrival: something it depends on changed after the claim, and not to the very bytes that were read.
const SETTLE = `UPDATE states SET
    status = CASE
      WHEN EXISTS (SELECT 1 FROM reasons r WHERE r.state_id = states.id AND r.sequence >= x.token AND NOT (
        r.kind = 'dep' AND EXISTS (
          SELECT 1 FROM json_each(x.item, '$.consumed') c JOIN paths p ON p.id = r.path_id
          WHERE c.value ->> 'path' = p.path AND ${asBlob("c.value ->> 'hash'")} = p.hash)))
      THEN CASE WHEN ${VANISHED} THEN 'orphan' ELSE 'stale' END
      WHEN x.outcome = 'skipped' THEN 'skipped' ELSE 'fresh' END,
    cache_key = coalesce(x.cache_key, states.cache_key),
    content_hash = coalesce(x.content_hash, states.content_hash),
    produced_at = CASE WHEN x.outcome = 'verified' THEN coalesce(states.produced_at, ?3) ELSE ?3 END,
    produced_by = CASE WHEN x.outcome = 'verified' THEN coalesce(states.produced_by, x.runner) ELSE x.runner END,
    made_token = x.token, lease_until = NULL, losses = 0
  FROM (SELECT a.state_id, a.token, a.runner, v.value AS item, v.value ->> 'outcome' AS outcome,
               ${asBlob("v.value ->> 'cache_key'")} AS cache_key,
               ${asBlob("v.value ->> 'content_hash'")} AS content_hash
        FROM ${ACCEPTED}) x
  WHERE states.id = x.state_id AND x.outcome <> 'cleaned'
  RETURNING token, status`;

const CLEANED = `SELECT a.state_id FROM ${ACCEPTED} WHERE a.outcome = 'cleaned'`;

const CLEANED_PATHS = `UPDATE paths SET hash = NULL, made_hash = NULL, size = NULL, seen_at = ?3
  WHERE maker_id IN (${CLEANED})`;

const CLEANED_STATES = `DELETE FROM states WHERE id IN (${CLEANED}) RETURNING token, 'cleaned' AS status`;
