// Which states a request is about: of a workflow, of one of its stages, of one entity, or of both.

import type { Value } from './database.ts';

export interface Chosen {
  readonly workflow: string;
  readonly stage?: string | undefined;
  readonly entity?: string | undefined;
}

/** A condition on `states s`; the workflow's name is ?1. Sources are not made, so nothing is asked of them. */
export function chosenStates({ workflow, stage, entity }: Chosen): { where: string; args: readonly Value[] } {
  const args: Value[] = [workflow];
  let where = 's.source = 0 AND s.workflow_id = (SELECT id FROM workflows WHERE name = ?1)';
  if (stage !== undefined) {
    args.push(stage);
    where += ` AND s.stage_id = (SELECT g.id FROM stages g WHERE g.workflow_id = s.workflow_id AND g.name = ?${args.length})`;
  }
  if (entity !== undefined) {
    args.push(entity);
    where += ` AND s.entity_id = (SELECT e.id FROM entities e WHERE e.workflow_id = s.workflow_id AND e.name = ?${args.length})`;
  }
  return { where, args };
}
