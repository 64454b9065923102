// Takes failures: counts them per key, and says when to try again or that nobody should (SEMANTICS 18).

import { type FailureOutcome, nextStep } from '../../schema/retry.ts';
import type { FailItem } from '../../schema/wire.ts';
import type { Answered } from './complete-work.ts';
import { sql } from './database.ts';
import { firstAnswers } from './first-answers.ts';
import { asBlob, asTextOrNull } from './hashes.ts';
import type { Store } from './store.ts';

export function failWork(
  store: Store,
  runner: string,
  items: readonly FailItem[],
): Promise<readonly Answered[]> {
  return store.registered.decide(async (known) => {
    const [nowMs, nonce] = [store.nowMs(), store.nonce()];
    const before = await failuresBefore(store, items);
    const decided = items.map((item) => {
      const past = before.get(item.token);
      const rule = past && known.stages.get(past.stage)?.stage.retry;
      const isSameKey = past?.key != null && past.key === (item.cache_key ?? null);
      const failures = (isSameKey ? past.failures : 0) + 1;
      const step = rule
        ? nextStep(rule, { failures, outcome: item.outcome as FailureOutcome })
        : { next: 'exhausted' as const };
      const retryAt = step.next === 'retry' ? nowMs + step.waitMs : null;
      const exitCode = item.outcome.kind === 'exit' ? item.outcome.code : null;
      return { ...item, failures, exit_code: exitCode, retry_at: retryAt, result: step.next };
    });
    const json = JSON.stringify(decided);
    const [, , settled] = await store.db.batch(
      [sql(CLOSE, json, runner, nowMs, nonce), sql(FAILURE, json, nonce, nowMs), sql(SETTLE, json, nonce)],
      'write',
    );
    const accepted = new Set(settled!.rows.map(({ token }) => token));
    const others = items.map(({ token }) => token).filter((token) => !accepted.has(token));
    const first = await firstAnswers(store, runner, others);
    return decided.map(
      ({ token, result, retry_at }): Answered =>
        accepted.has(token) ? { token, result, retry_at } : { token, result: first.get(token) ?? 'lost' },
    );
  });
}

interface Past {
  readonly stage: number;
  readonly failures: number;
  readonly key: string | null;
}

/** Nothing can change them between this look and the fence: only the holder of the lease may fail. */
async function failuresBefore({ db }: Store, items: readonly FailItem[]): Promise<ReadonlyMap<number, Past>> {
  const [found] = await db.batch([sql(BEFORE, JSON.stringify(items.map(({ token }) => token)))], 'read');
  return new Map(
    found!.rows.map(({ token, stage_id, failures, key }) => [
      token as number,
      { stage: stage_id as number, failures: failures as number, key: key as string | null },
    ]),
  );
}

const BEFORE = `SELECT a.token, a.stage_id, coalesce(f.failures, 0) AS failures, ${asTextOrNull('f.cache_key')} AS key
  FROM attempts a LEFT JOIN failures f ON f.state_id = a.state_id
  WHERE a.token IN (SELECT value FROM json_each(?))`;

const CLOSE = `UPDATE attempts SET ended_at = ?3, closing = ?4, outcome = 'failed', seconds = x.seconds,
    exit_code = x.exit_code, error = x.error, log_tail = x.log_tail, reasons = coalesce(x.reasons, attempts.reasons),
    answer = x.result
  FROM (SELECT value ->> 'token' AS token, value ->> 'seconds' AS seconds, value ->> 'exit_code' AS exit_code,
               value ->> 'error' AS error, value ->> 'log_tail' AS log_tail, value ->> 'reasons' AS reasons,
               value ->> 'result' AS result FROM json_each(?1)) x
  WHERE attempts.token = x.token AND attempts.ended_at IS NULL AND attempts.runner = ?2
    AND EXISTS (SELECT 1 FROM states s WHERE s.id = attempts.state_id AND s.token = attempts.token
                AND s.status = 'running')`;

const ACCEPTED = `json_each(?1) v JOIN attempts a ON a.token = v.value ->> 'token' AND a.closing = ?2`;

const FAILURE = `INSERT INTO failures
    (state_id, failures, cache_key, exit_code, error, details, first_failed_at, last_failed_at, retry_at)
  SELECT a.state_id, v.value ->> 'failures', ${asBlob("v.value ->> 'cache_key'")}, v.value ->> 'exit_code',
         v.value ->> 'error', v.value ->> 'log_tail', ?3, ?3, v.value ->> 'retry_at'
  FROM ${ACCEPTED} WHERE true
  ON CONFLICT (state_id) DO UPDATE SET failures = excluded.failures, cache_key = excluded.cache_key,
    exit_code = excluded.exit_code, error = excluded.error, details = excluded.details,
    first_failed_at = CASE WHEN excluded.failures = 1 THEN excluded.first_failed_at ELSE failures.first_failed_at END,
    last_failed_at = excluded.last_failed_at, retry_at = excluded.retry_at`;

// What changed while it ran makes another key, so the failure is that of a key nobody wants any more.
const SETTLE = `UPDATE states SET lease_until = NULL, losses = 0,
    status = CASE
      WHEN EXISTS (SELECT 1 FROM reasons r WHERE r.state_id = states.id AND r.sequence >= x.token) THEN 'stale'
      WHEN x.retry_at IS NULL THEN 'exhausted' ELSE 'failed' END
  FROM (SELECT a.state_id, a.token, v.value ->> 'retry_at' AS retry_at FROM ${ACCEPTED}) x
  WHERE states.id = x.state_id RETURNING token`;
