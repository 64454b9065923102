// Begins a run: a stored scope, and what it makes due (SEMANTICS 7, 17, 18).

import { buildDag, downstreamOf, upstreamOf } from '../../schema/dag.ts';
import type { StageId } from '../../schema/words.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { sql } from './database.ts';
import { mark } from './invalidate-states.ts';
import { unlessOutdated } from './registered.ts';
import type { Store } from './store.ts';

export interface RunRequest {
  readonly id: string;
  readonly workflow: string;
  readonly stage?: string | undefined;
  readonly force: boolean;
  readonly cause: string;
}

export interface StartedRun {
  readonly id: string;
  /** Nothing outside of it is made for this run. */
  readonly stages: readonly string[];
}

export function startRun(store: Store, request: RunRequest): Promise<StartedRun> {
  return store.registered.decide(async (known) => {
    const { id, workflow: name, stage, force, cause } = request;
    const { workflow, stageIds } = known.workflows.get(name)!;
    const { scope, forced, due } = scopeOf(workflow, stage as StageId | undefined, force);
    const idsOf = (stages: readonly string[]) => JSON.stringify(stages.map((each) => stageIds.get(each)));
    const inStages = 's.stage_id IN (SELECT value FROM json_each(?1)) AND s.source = 0';
    const body = JSON.stringify({ run: id, stages: scope, force, cause });
    await store.db.batch(
      [
        unlessOutdated(known),
        sql(RUN, id, name, cause, JSON.stringify({ stages: scope, forced }), store.nowMs()),
        sql(EVENT, name, store.nowMs(), body),
        ...mark({ where: inStages, args: [idsOf(forced)], kind: 'forced', detail: id }),
        ...mark({ where: inStages, args: [idsOf(due)], kind: 'due', detail: id }),
        sql(ANEW, idsOf(scope)),
      ],
      'write',
    );
    return { id, stages: scope };
  });
}

/** `--stage S` is S and the upstream it needs; with `--force`, S and its downstream, and not its upstream. */
export function scopeOf(workflow: Workflow, stage: StageId | undefined, force: boolean) {
  const made = workflow.stages.filter(({ kind }) => kind !== 'source');
  const { dag } = buildDag(workflow.stages);
  const forced = (each: Stage) =>
    force && (stage === undefined || each.id === stage || downstreamOf(dag, stage).has(each.id));
  const isInScope = (each: Stage) =>
    stage === undefined || each.id === stage || upstreamOf(dag, stage).has(each.id) || forced(each);
  const scope = made.filter(isInScope);
  return {
    scope: scope.map(({ id }) => id as string),
    forced: scope.filter(forced).map(({ id }) => id as string),
    due: scope.filter(isAlwaysDue).map(({ id }) => id as string),
  };
}

function isAlwaysDue({ deterministic, kind, deps, after }: Stage): boolean {
  return !deterministic || (kind === 'action' && deps.length === 0 && after.length === 0);
}

const RUN = `INSERT INTO runs (id, workflow_id, cause, scope, started_at, status)
  SELECT ?1, id, ?3, ?4, ?5, 'running' FROM workflows WHERE name = ?2`;

const EVENT = `INSERT INTO events (at, workflow_id, event, body)
  SELECT ?2, id, 'run_started', ?3 FROM workflows WHERE name = ?1`;

// An explicit run starts anew what had given up.
const ANEW = `UPDATE states SET status = 'stale', losses = 0
  WHERE stage_id IN (SELECT value FROM json_each(?)) AND status IN ('failed', 'exhausted')`;
