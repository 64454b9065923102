// What was tried for one state, newest first, with the end of each log.

import type { AttemptAnswer } from '../../schema/read-answers.ts';
import type { AttemptRow } from '../../schema/tables/control-plane.ts';
import { sql } from './database.ts';
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
  return (found.results[1]!.rows as readonly AttemptRow[]).map(toAttempt);
}

function toAttempt(row: AttemptRow): AttemptAnswer {
  const { token, kind, runner, run, outcome, reasons, exit_code, error, log_tail, seconds } = row;
  return {
    ...{ token, kind, runner, run, outcome, exit_code, error, log_tail, seconds },
    started_at: isoTime(row.started_at)!,
    ended_at: isoTime(row.ended_at),
    reasons: reasons === null ? [] : (JSON.parse(reasons) as AttemptAnswer['reasons']),
  };
}

const STATE = `SELECT s.id FROM states s WHERE s.stage_id = ?1
  AND s.entity_id = (SELECT id FROM entities WHERE workflow_id = ?2 AND name = ?3)`;

// By stage and entity, which outlive a state: what was tried before its workflow was removed is history too.
const ATTEMPTS = `SELECT * FROM attempts WHERE stage_id = ?1
  AND entity_id = (SELECT id FROM entities WHERE workflow_id = ?2 AND name = ?3)
  AND token < ?4 ORDER BY token DESC LIMIT ?5`;
