// A page of a workflow's entities, each with the word of every stage, oldest first.

import type { EntitySummary } from '../../schema/read-answers.ts';
import {
  type CountedWord,
  countedWordsOf,
  type PipelineWord,
  pipelineWord,
} from '../../schema/status-words.ts';
import { sql } from './database.ts';
import { lookUp } from './look-up.ts';
import { pageOfStates } from './page-of-states.ts';
import type { Store } from './store.ts';

export interface EntityQuery {
  readonly workflow: string;
  /** Entities of which at least one stage is called that. */
  readonly status?: PipelineWord | undefined;
  /** The cursor of the page before; 0 for the first. */
  readonly after: number;
  readonly limit: number;
}

export interface EntityPage {
  readonly entities: readonly EntitySummary[];
  /** Null on the last page. */
  readonly next: number | null;
}

/** Null if there is no such workflow. */
export async function listEntities(store: Store, query: EntityQuery): Promise<EntityPage | null> {
  const { workflow, status, after, limit } = query;
  const words = status === undefined ? [] : countedWordsOf(status);
  const found = await lookUp(store, workflow, (of) => [
    status === undefined
      ? sql(ALL, of.id, after, limit)
      : sql(pageOf(words), of.id, JSON.stringify([...of.stageIds.values()]), after, NO_STATE, limit),
  ]);
  if (found === null) return null;
  const { rows } = found.results[0]!;
  const entities = rows.map(({ name, stages }): EntitySummary => {
    const pairs = (JSON.parse(stages as string) as [number, CountedWord][]).flatMap(([stage, word]) => {
      const placed = found.known.stages.get(stage);
      return placed === undefined ? [] : [{ placed, word }];
    });
    return {
      id: name as string,
      stages: Object.fromEntries(
        pairs
          .toSorted((a, b) => a.placed.depth - b.placed.depth)
          .map(({ placed, word }) => [placed.stage.id, pipelineWord(word)]),
      ),
    };
  });
  return { entities, next: rows.length === limit ? (rows.at(-1)!.id as number) : null };
}

/** Greater than any: after all states of the entity of the cursor. */
const NO_STATE = Number.MAX_SAFE_INTEGER;

const WITH_STAGES = `SELECT e.id, e.name,
    (SELECT json_group_array(json_array(s.stage_id, s.word)) FROM states s
     WHERE s.workflow_id = ?1 AND s.entity_id = e.id) AS stages
  FROM page CROSS JOIN entities e ON e.id = page.entity_id ORDER BY e.id`;

const ALL = `WITH page AS MATERIALIZED (
    SELECT DISTINCT entity_id FROM states INDEXED BY states_entity
    WHERE workflow_id = ?1 AND entity_id > ?2 ORDER BY entity_id LIMIT ?3)
  ${WITH_STAGES}`;

function pageOf(words: readonly CountedWord[]): string {
  return `WITH page AS MATERIALIZED (
      SELECT DISTINCT entity_id FROM (${pageOfStates(words)}) ORDER BY entity_id LIMIT ?5)
    ${WITH_STAGES}`;
}
