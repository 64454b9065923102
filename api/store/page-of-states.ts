// SQL that picks one page of a workflow's states by word, in the order of entities, from the indexes that know it.

import type { CountedWord } from '../../schema/status-words.ts';

// Per stage `g`. Where no index knows the word, the states of a stage that has any are walked in the page's order.
const CANDIDATES: Readonly<Record<CountedWord, string>> = {
  stale: "states c WHERE c.stage_id = g.value AND c.status = 'stale' AND c.blockers = 0",
  waiting: "states c WHERE c.stage_id = g.value AND c.status = 'stale' AND c.blockers > 0",
  running: `states c INDEXED BY states_running
    WHERE c.workflow_id = ?1 AND c.status = 'running' AND c.stage_id = g.value`,
  exhausted: `states c INDEXED BY states_gave_up
    WHERE c.workflow_id = ?1 AND c.stage_id = g.value AND c.status = 'exhausted'`,
  failed: `failures f CROSS JOIN states c ON c.id = f.state_id
    WHERE c.stage_id = g.value AND c.status = 'failed'`,
  fresh: "states c WHERE c.stage_id = g.value AND c.status = 'fresh'",
  edited: "states c WHERE c.stage_id = g.value AND c.status = 'edited'",
  skipped: "states c WHERE c.stage_id = g.value AND c.status = 'skipped'",
  orphan: "states c WHERE c.stage_id = g.value AND c.status = 'orphan'",
};

/**
 * All states if no word is given. ?1 workflow, ?2 stages as a JSON list of ids, ?3 and ?4 entity and state after which
 * the page begins, ?5 its size. Each stage yields at most a page, so the cost is that of pages and not of what there is.
 */
export function pageOfStates(words: readonly CountedWord[]): string {
  if (words.length === 0) return pageFrom('json_each(?2) g', 'states c WHERE c.stage_id = g.value');
  const havingSome = (word: CountedWord) =>
    `json_each(?2) g CROSS JOIN counts n ON n.stage_id = g.value AND n.word = '${word}' AND n.n > 0`;
  return words.map((word) => pageFrom(havingSome(word), CANDIDATES[word])).join(' UNION ALL ');
}

function pageFrom(stages: string, candidates: string): string {
  return `SELECT s.entity_id, s.id FROM ${stages}
    CROSS JOIN states s ON s.id IN (SELECT c.id FROM ${candidates}
      AND (c.entity_id, c.id) > (?3, ?4) ORDER BY c.entity_id LIMIT ?5)`;
}
