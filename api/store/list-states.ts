// A page of a workflow's states with their reasons, in the order of entities.

import type { StateAnswer } from '../../schema/read-answers.ts';
import type { CountedWord } from '../../schema/status-words.ts';
import { scopeOfState } from './around-state.ts';
import { type Row, type Statement, sql } from './database.ts';
import { asTextOrNull } from './hashes.ts';
import { isoTime, lookUp } from './look-up.ts';
import { pageOfStates } from './page-of-states.ts';
import type { KnownWorkflow } from './registered.ts';
import type { Store } from './store.ts';
import { sentences, TOLD_COLUMNS, toldReasons } from './told-reasons.ts';

export interface StateQuery {
  readonly workflow: string;
  readonly stage?: string | undefined;
  readonly entity?: string | undefined;
  readonly status?: CountedWord | undefined;
  /** Not the state of that stage and entity alone, but all that a run of it is about, forced or not. */
  readonly scope?: 'run' | 'forced' | undefined;
  readonly after: StateCursor;
  readonly limit: number;
}

/** The last state of the page before, with its entity: states come in the order of both. */
export interface StateCursor {
  readonly entity: number;
  readonly state: number;
}

export const FIRST_STATES: StateCursor = { entity: 0, state: 0 };

export interface StatePage {
  readonly states: readonly StateAnswer[];
  readonly next: StateCursor | null;
}

/** Null if there is no such workflow, stage or entity. */
export async function listStates(store: Store, query: StateQuery): Promise<StatePage | null> {
  const { workflow, stage, entity, limit } = query;
  const found = await lookUp(store, workflow, (of) => statementsFor(of, query));
  if (found === null || (stage !== undefined && !found.of.stageIds.has(stage))) return null;
  const [page, named] = found.results.map(({ rows }) => rows);
  if (entity !== undefined && named!.length === 0) return null;
  const last = page!.length === limit ? page!.at(-1) : undefined;
  return {
    states: page!.map((row) => toState(found.of, row)),
    next: last === undefined ? null : { entity: last.entity_id as number, state: last.id as number },
  };
}

function statementsFor(of: KnownWorkflow, query: StateQuery): Statement[] {
  const { stage, entity, status, scope, after, limit } = query;
  const ids = of.workflow.stages
    .filter(({ id }) => stage === undefined || id === stage)
    .map(({ id }) => of.stageIds.get(id)!);
  const args = [of.id, JSON.stringify(ids), after.entity, after.state, limit] as const;
  const words = status === undefined ? [] : [status];
  if (entity === undefined) return [sql(details(pageOfStates(words)), ...args)];
  const isThere = sql('SELECT id FROM entities WHERE workflow_id = ? AND name = ?', of.id, entity);
  if (scope !== undefined && ids.length === 1) {
    const around = `SELECT s.entity_id, s.id FROM states s WHERE s.source = 0 AND s.workflow_id = ?1
      AND s.id IN (${scopeOfState({ force: scope === 'forced' }, 6)}) AND (s.entity_id, s.id) > (?3, ?4)`;
    return [sql(details(`${around} AND ?2 IS NOT NULL`), ...args, ids[0]!, entity), isThere];
  }
  const own = OF_ENTITY + (status === undefined ? '' : ' AND s.word = ?7');
  return [sql(details(own), ...args, entity, ...words), isThere];
}

function toState(of: KnownWorkflow, row: Row): StateAnswer {
  return {
    stage: row.stage as string,
    entity: row.entity as string,
    status: row.word as CountedWord,
    reasons: sentences(toldReasons(row, of.root)),
    cache_key: row.cache_key as string | null,
    content_hash: row.content_hash as string | null,
    attempts: (row.failures ?? 0) as number,
    error: row.error as string | null,
    next_retry_at: isoTime(row.retry_at),
    runner: row.runner as string | null,
    lease_until: isoTime(row.lease_until),
  };
}

/** ?6 is the name of the entity. */
const OF_ENTITY = `SELECT s.entity_id, s.id FROM entities e
  CROSS JOIN states s ON s.workflow_id = e.workflow_id AND s.entity_id = e.id
  WHERE e.workflow_id = ?1 AND e.name = ?6 AND s.stage_id IN (SELECT value FROM json_each(?2))
    AND (s.entity_id, s.id) > (?3, ?4)`;

function details(chosen: string): string {
  return `WITH page AS MATERIALIZED (SELECT * FROM (${chosen}) ORDER BY entity_id, id LIMIT ?5)
    SELECT s.id, s.entity_id, g.name AS stage, e.name AS entity, ${TOLD_COLUMNS},
      ${asTextOrNull('s.content_hash')} AS content_hash,
      CASE WHEN s.status = 'running' THEN s.lease_until END AS lease_until,
      CASE WHEN s.status = 'running' THEN (SELECT a.runner FROM attempts a WHERE a.token = s.token) END AS runner
    FROM page CROSS JOIN states s ON s.id = page.id CROSS JOIN stages g ON g.id = s.stage_id
      CROSS JOIN entities e ON e.id = s.entity_id LEFT JOIN failures f ON f.state_id = s.id
    ORDER BY s.entity_id, s.id`;
}
