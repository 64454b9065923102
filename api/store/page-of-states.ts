// SQL that picks one page of a workflow's states by word, in the order of entities, from the indexes that know it.

import type { CountedWord } from '../../schema/status-words.ts';

// Per stage `g`. Where no index knows the word, the states of a stage are walked in the order of the page.
const CANDIDATES: Readonly<Record<CountedWord, string>> = {
  stale: "states c WHERE c.stage_id = g.value AND c.status = 'stale' AND c.blockers = 0",
  waiting: "states c WHERE c.stage_id = g.value AND c.status = 'stale' AND c.blockers > 0",
  running: "states c WHERE c.workflow_id = ?1 AND c.status = 'running' AND c.stage_id = g.value",
  exhausted: "states c WHERE c.workflow_id = ?1 AND c.stage_id = g.value AND c.status = 'exhausted'",
  failed:
    "failures f CROSS JOIN states c ON c.id = f.state_id WHERE c.stage_id = g.value AND c.status = 'failed'",
  fresh: "states c WHERE c.stage_id = g.value AND c.status = 'fresh'",
  edited: "states c WHERE c.stage_id = g.value AND c.status = 'edited'",
  skipped: "states c WHERE c.stage_id = g.value AND c.status = 'skipped'",
  orphan: "states c WHERE c.stage_id = g.value AND c.status = 'orphan'",
};

/**
 * ?1 workflow, ?2 stages as a JSON list of ids, ?3 and ?4 entity and state after which the page begins, ?5 its size.
 * Each stage yields at most a page, so the cost is that of pages and not of what there is.
 */
export function pageOfStates(words: readonly CountedWord[]): string {
  const of = (candidates: string) => `SELECT s.entity_id, s.id FROM json_each(?2) g
    JOIN states s ON s.id IN (SELECT c.id FROM ${candidates}
      AND (c.entity_id, c.id) > (?3, ?4) ORDER BY c.entity_id LIMIT ?5)`;
  if (words.length > 0) return words.map((word) => of(CANDIDATES[word])).join(' UNION ALL ');
  return of('states c WHERE c.stage_id = g.value');
}
