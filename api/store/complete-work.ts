// Takes results: only from the runner that holds the lease, each counted once, all in one batch.
//
// The first statement is the fence: it closes the attempts that are still current and marks them with this
// request's number; every later statement looks at that mark. What a result means for other states (readers of what
// it made, actions that come after it) follows by trigger.

import type { CompleteItem, ItemResult } from '../../schema/wire.ts';
import { type Statement, sql } from './database.ts';
import { firstAnswers } from './first-answers.ts';
import { asBlob } from './hashes.ts';
import { NEWEST_TOKEN } from './newest-token.ts';
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
  const tokens = JSON.stringify(items.map(({ token }) => token));
  const isElsewhere = items.some(({ outcome, elsewhere }) => outcome === 'made' && elsewhere);
  const isCleaned = items.some(({ outcome }) => outcome === 'cleaned');
  const before: Statement[] = [
    sql(
      CLOSE,
      JSON.stringify(items.map(closing)),
      runner,
      nowMs,
      nonce,
      JSON.stringify(items.flatMap(consumedBy)),
    ),
    ...each(CONSUMED, items.flatMap(consumedBy), nonce, nowMs),
    ...each(MADE, items.flatMap(madeBy), nonce, nowMs),
    ...[...recipesOf(items)].map(([hash, body]) => sql(RECIPE, hash, body)),
    ...each(RECORD, items.flatMap(recordOf), nonce),
    ...when(isElsewhere, sql(ELSEWHERE, tokens, nonce)),
    ...when(isCleaned, sql(CLEANED_ORPHANS, tokens, nonce), sql(CLEANED_PATHS, tokens, nonce, nowMs)),
  ];
  const after = when(isCleaned, sql(CLEANED_STATES, tokens, nonce));
  const results = await store.db.batch([...before, sql(SETTLE, tokens, nonce, nowMs), ...after], 'write');
  const accepted = new Map<number, ItemResult>();
  for (const row of [...results[before.length]!.rows, ...(results[before.length + 1]?.rows ?? [])])
    accepted.set(row.token as number, row.status as ItemResult);
  const others = items.filter(({ token }) => !accepted.has(token)).map(({ token }) => token);
  const first = await firstAnswers(store, runner, others);
  return items.map(({ token }) => ({ token, result: accepted.get(token) ?? first.get(token) ?? 'lost' }));
}

// Lists of lists of plain values: SQLite writes out and reads again whatever is taken out of nested JSON, field by field.
function closing({ token, outcome, seconds, reasons, cache_key, content_hash }: CompleteItem) {
  const why = reasons === undefined ? null : JSON.stringify(reasons);
  return [token, outcome, seconds, why, cache_key, content_hash];
}

function consumedBy({ token, consumed }: CompleteItem) {
  return consumed.map(({ path, hash }) => [token, path, hash]);
}

function madeBy({ token, outs }: CompleteItem) {
  return outs.map(({ path, hash, size, files }) => [token, path, hash, size, files]);
}

function recordOf({ token, cache_key, recipe, deps, outs }: CompleteItem) {
  return cache_key === undefined ? [] : [[token, recipe, JSON.stringify(deps), JSON.stringify(outs)]];
}

function each(text: string, rows: readonly unknown[], ...args: readonly number[]): Statement[] {
  return when(rows.length > 0, sql(text, JSON.stringify(rows), ...args));
}

function when(condition: boolean, ...statements: Statement[]): Statement[] {
  return condition ? statements : [];
}

function recipesOf(items: readonly CompleteItem[]): Map<string, string> {
  const bodies = items.flatMap(({ recipe, recipe_body }): [string, string][] =>
    recipe === undefined || recipe_body === undefined ? [] : [[recipe, JSON.stringify(recipe_body)]],
  );
  return new Map(bodies);
}

// Stale on arrival: something it depends on changed after the claim, and not to the very bytes that were read.
const ARRIVES_STALE = `EXISTS (SELECT 1 FROM reasons r WHERE r.state_id = attempts.state_id
  AND r.sequence >= attempts.token AND NOT (r.kind = 'dep' AND EXISTS (
    SELECT 1 FROM json_each(?5) c JOIN paths p ON p.id = r.path_id
    WHERE c.value ->> 0 = x.token AND c.value ->> 1 = p.path AND ${asBlob('c.value ->> 2')} = p.hash)))`;

/** The source was removed while it ran. */
const VANISHED = `(SELECT count(*) > 0 AND count(p.hash) = 0 AND count(p.maker_id) = 0
  FROM inputs i JOIN paths p ON p.id = i.path_id WHERE i.state_id = attempts.state_id AND i.driver = 1)`;

const CLOSE = `UPDATE attempts SET ended_at = ?3, closing = ?4, outcome = x.outcome, seconds = x.item ->> 2,
    reasons = coalesce(x.item ->> 3, attempts.reasons),
    cache_key = ${asBlob('x.item ->> 4')}, content_hash = ${asBlob('x.item ->> 5')},
    answer = CASE
      WHEN x.outcome = 'cleaned' THEN 'cleaned'
      WHEN ${ARRIVES_STALE} THEN CASE WHEN ${VANISHED} THEN 'orphan' ELSE 'stale' END
      WHEN x.outcome = 'skipped' THEN 'skipped' ELSE 'fresh' END
  FROM (SELECT value AS item, value ->> 0 AS token, value ->> 1 AS outcome FROM json_each(?1)) x
  WHERE attempts.token = x.token AND attempts.ended_at IS NULL AND attempts.runner = ?2
    AND (x.outcome = 'cleaned') = (attempts.kind = 'clean')
    AND EXISTS (SELECT 1 FROM states s WHERE s.id = attempts.state_id AND s.token = attempts.token
                AND s.status = 'running')`;

/** The rows of those that the fence let through; the token stands first in each. */
const ACCEPTED = 'json_each(?1) v JOIN attempts a ON a.token = v.value ->> 0 AND a.closing = ?2';

// A runner that read newer bytes than any watcher has reported is believed, unless the path changed since the claim.
const CONSUMED = `UPDATE paths SET hash = x.hash, seen_at = ?3, sequence = x.token - 1
  FROM (SELECT a.state_id, a.token, g.target, v.value ->> 1 AS path, ${asBlob('v.value ->> 2')} AS hash
        FROM ${ACCEPTED} JOIN stages g ON g.id = a.stage_id) x
  WHERE paths.target = x.target AND paths.path = x.path AND paths.hash IS NOT x.hash AND paths.sequence < x.token
    AND EXISTS (SELECT 1 FROM inputs i WHERE i.path_id = paths.id AND i.state_id = x.state_id)`;

// Only what the state is the maker of: a result cannot speak of other files.
const MADE = `UPDATE paths SET hash = x.hash, made_hash = x.hash, size = x.size, files = x.files, seen_at = ?3,
    discovered_at = coalesce(paths.discovered_at, ?3), sequence = ${NEWEST_TOKEN}
  FROM (SELECT a.state_id, v.value ->> 1 AS path, ${asBlob('v.value ->> 2')} AS hash,
               v.value ->> 3 AS size, v.value ->> 4 AS files
        FROM ${ACCEPTED}) x
  WHERE paths.path = x.path AND paths.maker_id = x.state_id`;

// What was seen over there since the claim is what was made; otherwise whoever looks first after this says what was.
const ELSEWHERE = `UPDATE paths SET made_hash = CASE WHEN paths.sequence >= x.token THEN paths.hash END
  FROM (SELECT a.state_id, a.token, g.target
        FROM json_each(?1) v JOIN attempts a ON a.token = v.value AND a.closing = ?2 JOIN stages g ON g.id = a.stage_id
        WHERE a.outcome = 'made') x
  WHERE paths.maker_id = x.state_id AND paths.target <> x.target`;

const RECIPE = `INSERT INTO recipes (hash, body) VALUES (${asBlob('?')}, ?) ON CONFLICT DO NOTHING`;

const RECORD = `INSERT INTO records (state_id, cache_key, token, recipe, deps, outs, skipped)
  SELECT a.state_id, a.cache_key, a.token, ${asBlob('v.value ->> 1')}, v.value ->> 2, v.value ->> 3,
         a.outcome = 'skipped'
  FROM ${ACCEPTED} WHERE true
  ON CONFLICT (state_id, cache_key) DO UPDATE SET token = excluded.token, recipe = excluded.recipe,
    deps = excluded.deps, outs = excluded.outs, skipped = excluded.skipped`;

const SETTLE = `UPDATE states SET status = x.answer,
    cache_key = coalesce(x.cache_key, states.cache_key),
    content_hash = coalesce(x.content_hash, states.content_hash),
    produced_at = CASE WHEN x.outcome = 'verified' THEN coalesce(states.produced_at, ?3) ELSE ?3 END,
    produced_by = CASE WHEN x.outcome = 'verified' THEN coalesce(states.produced_by, x.runner) ELSE x.runner END,
    made_token = x.token, lease_until = NULL, losses = 0
  FROM (SELECT a.* FROM json_each(?1) v JOIN attempts a ON a.token = v.value AND a.closing = ?2) x
  WHERE states.id = x.state_id AND x.outcome <> 'cleaned'
  RETURNING token, status`;

const CLEANED = `SELECT a.state_id FROM json_each(?1) v JOIN attempts a ON a.token = v.value AND a.closing = ?2
  WHERE a.outcome = 'cleaned'`;

// Orphans again for an instant: what was made from their outputs has lost its source for good, and is told so.
const CLEANED_ORPHANS = `UPDATE states SET status = 'orphan' WHERE id IN (${CLEANED})`;

const CLEANED_PATHS = `UPDATE paths SET hash = NULL, made_hash = NULL, size = NULL, seen_at = ?3
  WHERE maker_id IN (${CLEANED})`;

const CLEANED_STATES = `DELETE FROM states WHERE id IN (${CLEANED}) RETURNING token, 'cleaned' AS status`;
