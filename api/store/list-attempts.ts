// What was tried for one state, newest first, with the end of each log.

import type { AttemptAnswer } from '../../schema/read-answers.ts';
import { type Row, sql } from './database.ts';
import { isoTime, lookUp } from './look-up.ts';
import type { Store } from './store.ts';

export interface AttemptQuery {
  readonly workflow: string;
  readonly stage: string;
  readonly entity: string;
  /** The token before which the page begins: attempts go back in time. */
  readonly before: number;
  readonly limit: number;
}

/** Null if there is no such state. */
export async function listAttempts(store: Store, query: AttemptQuery): Promise<AttemptAnswer[] | null> {
  const { workflow, stage, entity, before, limit } = query;
  const found = await lookUp(store, workflow, (of) => {
    const state = [of.stageIds.get(stage) ?? 0, of.id, entity] as const;
    return [sql(STATE, ...state), sql(ATTEMPTS, ...state, before, limit)];
  });
  if (found === null || found.results[0]!.rows.length === 0) return null;
  return found.results[1]!.rows.map(toAttempt);
}

function toAttempt(row: Row): AttemptAnswer {
  return {
    token: row.token as number,
    kind: row.kind as AttemptAnswer['kind'],
    runner: row.runner as string,
    run: row.run as string | null,
    started_at: isoTime(row.started_at)!,
    ended_at: isoTime(row.ended_at),
    outcome: row.outcome as AttemptAnswer['outcome'],
    reasons: row.reasons === null ? [] : (JSON.parse(row.reasons as string) as AttemptAnswer['reasons']),
    exit_code: row.exit_code as number | null,
    error: row.error as string | null,
    log_tail: row.log_tail as string | null,
    seconds: row.seconds as number | null,
  };
}

const STATE = `SELECT s.id FROM states s WHERE s.stage_id = ?1
  AND s.entity_id = (SELECT id FROM entities WHERE workflow_id = ?2 AND name = ?3)`;

const ATTEMPTS = `SELECT * FROM attempts WHERE state_id = (${STATE}) AND token < ?4 ORDER BY token DESC LIMIT ?5`;
