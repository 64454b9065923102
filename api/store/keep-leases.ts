// Heartbeats and returns: a runner keeps the states it works on, or gives them back unmade.

import type { Answered } from './complete-work.ts';
import { sql } from './database.ts';
import { firstAnswers } from './first-answers.ts';
import type { Store } from './store.ts';

/** The tokens that are not in the answer are lost: whatever is still running for them must be stopped. */
export async function renewLeases(
  { db, nowMs }: Store,
  request: { readonly runner: string; readonly tokens: readonly number[]; readonly leaseMs: number },
): Promise<readonly number[]> {
  const { runner, tokens, leaseMs } = request;
  const [kept] = await db.batch([sql(RENEW, JSON.stringify(tokens), runner, nowMs() + leaseMs)], 'write');
  return kept!.rows.map(({ token }) => token as number);
}

export async function releaseWork(
  store: Store,
  runner: string,
  tokens: readonly number[],
): Promise<readonly Answered[]> {
  const [nonce, json] = [store.nonce(), JSON.stringify(tokens)];
  const [, released] = await store.db.batch(
    [sql(CLOSE, json, runner, store.nowMs(), nonce), sql(RELEASE, json, nonce)],
    'write',
  );
  const given = new Set(released!.rows.map(({ token }) => token));
  const first = await firstAnswers(
    store,
    runner,
    tokens.filter((token) => !given.has(token)),
  );
  return tokens.map((token) => ({
    token,
    result: given.has(token) ? 'released' : (first.get(token) ?? 'lost'),
  }));
}

const RENEW = `UPDATE states SET lease_until = ?3
  WHERE status = 'running' AND id IN (
    SELECT a.state_id FROM json_each(?1) v JOIN attempts a ON a.token = v.value AND a.runner = ?2
    WHERE a.token = states.token)
  RETURNING token`;

const CLOSE = `UPDATE attempts SET ended_at = ?3, closing = ?4, outcome = 'released'
  WHERE token IN (SELECT value FROM json_each(?1)) AND ended_at IS NULL AND runner = ?2
    AND EXISTS (SELECT 1 FROM states s WHERE s.id = attempts.state_id AND s.token = attempts.token
                AND s.status = 'running')`;

const RELEASE = `UPDATE states SET lease_until = NULL,
    status = CASE WHEN x.kind = 'clean' THEN 'orphan' ELSE 'stale' END
  FROM (SELECT a.state_id, a.kind FROM json_each(?1) v JOIN attempts a ON a.token = v.value AND a.closing = ?2) x
  WHERE states.id = x.state_id RETURNING token`;
