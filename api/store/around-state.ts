// SQL for one state with all that it needs, or with all that is made from it: what a run of one state is about.

import type { OneState } from '../../schema/wire.ts';
import type { Value } from './database.ts';
import type { Registered } from './registered.ts';

/** ?n and ?n+1 are the stage's id and the name of the entity. */
function root(n: number): string {
  return `SELECT r.id FROM states r JOIN entities e ON e.id = r.entity_id WHERE r.stage_id = ?${n} AND e.name = ?${n + 1}`;
}

/** Ids: the state, the makers of what it reads, and every state of a stage that it comes after. */
export function stateAndAbove(n: number): string {
  return `WITH RECURSIVE above (id) AS (
      ${root(n)}
      UNION
      SELECT p.maker_id FROM above CROSS JOIN inputs i ON i.state_id = above.id CROSS JOIN paths p ON p.id = i.path_id
        WHERE p.maker_id IS NOT NULL
      UNION
      SELECT u.id FROM above CROSS JOIN states s ON s.id = above.id
        CROSS JOIN stage_links l ON l.stage_id = s.stage_id AND l.kind = 'after'
        CROSS JOIN states u ON u.stage_id = l.upstream_id)
    SELECT id FROM above`;
}

/** Ids: the state, and the readers of what it makes. */
export function stateAndBelow(n: number): string {
  return `WITH RECURSIVE below (id) AS (
      ${root(n)}
      UNION
      SELECT i.state_id FROM below CROSS JOIN paths p ON p.maker_id = below.id CROSS JOIN inputs i ON i.path_id = p.id
      UNION
      SELECT d.id FROM below CROSS JOIN states s ON s.id = below.id
        CROSS JOIN stage_links l ON l.upstream_id = s.stage_id AND l.kind = 'after'
        CROSS JOIN states d ON d.stage_id = l.stage_id)
    SELECT id FROM below`;
}

/** All that a run of one state may make. */
export function scopeOfState({ force }: Pick<OneState, 'force'>, n: number): string {
  const above = `SELECT id FROM (${stateAndAbove(n)})`;
  return force ? `${above} UNION SELECT id FROM (${stateAndBelow(n)})` : above;
}

/** What `?n` and `?n+1` stand for. */
export function argsOf(known: Registered, { workflow, stage, entity }: OneState): readonly Value[] {
  return [known.workflows.get(workflow)?.stageIds.get(stage) ?? 0, entity];
}
