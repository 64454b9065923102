// Begins a run: a stored scope, and what it makes due (SEMANTICS 7, 17, 18).

import { buildDag, downstreamOf, upstreamOf } from '../../schema/dag.ts';
import type { StageId } from '../../schema/words.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { argsOf, scopeOfState, stateAndBelow } from './around-state.ts';
import { sql } from './database.ts';
import { mark } from './invalidate-states.ts';
import { unlessOutdated } from './registered.ts';
import type { Store } from './store.ts';

export interface RunRequest {
  readonly id: string;
  readonly workflow: string;
  readonly stage?: string | undefined;
  /** Of that stage; all of them if it is left out. */
  readonly entity?: string | undefined;
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
    const { id, workflow: name, stage, entity, force, cause } = request;
    const { workflow, stageIds } = known.workflows.get(name)!;
    const { scope, forced, due } = scopeOf(workflow, stage as StageId | undefined, force);
    const idsOf = (stages: readonly string[]) => JSON.stringify(stages.map((each) => stageIds.get(each)));
    const made = 's.stage_id IN (SELECT value FROM json_each(?1)) AND s.source = 0';
    // Of one state: what it is about is found by walking from it, not by stage.
    const only =
      stage === undefined || entity === undefined ? null : { workflow: name, stage, entity, force };
    const within = (ids: string) => (only === null ? made : `${made} AND s.id IN (${ids})`);
    const args = (stages: readonly string[]) => [
      idsOf(stages),
      ...(only === null ? [] : argsOf(known, only)),
    ];
    const inScope = within(scopeOfState({ force }, 2));
    const body = JSON.stringify({ run: id, stages: scope, entity, force, cause });
    await store.db.batch(
      [
        unlessOutdated(known),
        sql(RUN, id, name, cause, JSON.stringify({ stages: scope, entity, forced }), store.nowMs()),
        sql(EVENT, name, store.nowMs(), body),
        ...mark({ where: within(stateAndBelow(2)), args: args(forced), kind: 'forced', detail: id }),
        ...mark({ where: inScope, args: args(due), kind: 'due', detail: id }),
        sql(anew(inScope), ...args(scope)),
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
function anew(inScope: string): string {
  return `UPDATE states SET status = 'stale', losses = 0
    WHERE status IN ('failed', 'exhausted') AND id IN (SELECT s.id FROM states s WHERE ${inScope})`;
}
