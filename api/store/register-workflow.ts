// Registers a definition: one batch that keeps the old one readable and makes stale exactly what it affects.

import { hashValue } from '../../schema/blake3.ts';
import { shown } from '../../schema/diagnostic.ts';
import { compareDefinitions, type DefinitionChanges } from '../../schema/discovery/changes.ts';
import { discoverFixed } from '../../schema/discovery/discover.ts';
import { linkStages, type StageLink } from '../../schema/discovery/links.ts';
import { buildRegistry, type RegisteredWorkflow } from '../../schema/discovery/registry.ts';
import { type Blake3, type Json, LOCAL, type TargetName } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { type Statement, sql } from './database.ts';
import { inChunks, writeDiscovery } from './discovered.ts';
import { hashBlob } from './hashes.ts';
import { NEWEST_TOKEN } from './newest-token.ts';
import { BUMP_REGISTRY, type Registered, unlessOutdated } from './registered.ts';
import type { Store } from './store.ts';

export interface Registration {
  readonly name: string;
  readonly workflow: Workflow;
  /** The file as it was sent. */
  readonly source: string;
  readonly root: string;
  readonly target: string;
  readonly by: string;
}

export type RegisterResult =
  | {
      readonly ok: true;
      readonly definition: Blake3;
      readonly changes: DefinitionChanges;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

export function registerWorkflow(store: Store, registration: Registration): Promise<RegisterResult> {
  return store.registered.decide(async (known) => {
    const planned = plan(store, known, registration);
    if (planned.kind === 'loops') return { ok: false, problems: planned.loops };
    await store.db.batch(planned.statements, 'write');
    store.registered.forget();
    const { definition, changes, warnings } = planned;
    return { ok: true, definition, changes, warnings };
  });
}

function plan(store: Store, known: Registered, registration: Registration) {
  const { name, workflow, root, target } = registration;
  const before = known.workflows.get(name);
  const definition = hashValue(store.hash, 'definition', {
    workflow: workflow as unknown as Json,
    root,
    target,
  });
  const isMoved = before !== undefined && (before.root !== root || before.target !== target);
  const compared = compareDefinitions(before?.workflow ?? null, workflow);
  const changes = isMoved ? everythingRewired(compared, workflow) : compared;
  const registered: RegisteredWorkflow = {
    id: known.workflowIds.get(name) ?? known.nextWorkflow,
    name,
    root,
    target: target as TargetName,
    workflow,
    stageIds: stageIdsOf(known, name, workflow),
  };
  const others = [...known.workflows.values()].filter((other) => other.name !== name);
  const registry = buildRegistry([...others, registered]);
  const { links, problems } = linkStages(registry.stages);
  const loops = problems.flatMap((problem) =>
    problem.problem === 'cycle'
      ? [`these stages wait for each other: ${problem.stages.map(shown).join(' → ')}`]
      : [],
  );
  if (loops.length > 0) return { kind: 'loops', loops } as const;
  const warnings = problems.flatMap((problem) =>
    problem.problem === 'two-writers' && problem.stages.some((id) => id.startsWith(`${name}#`))
      ? [`${problem.stages.map(shown).join(' and ')} may both write ${shown(problem.paths[1])}`]
      : [],
  );
  const after = { ...known, registry, stages: new Map(registry.stages.map((stage) => [stage.id, stage])) };
  const statements = [
    unlessOutdated(known),
    ...writeWorkflow(store, registered, { ...registration, definition }),
    ...writeChanges(store, registered, { before: before?.stageIds ?? new Map(), changes }),
    sql('DELETE FROM stage_links'),
    ...inChunks(together(links)).map((json) => sql(LINKS, json)),
    ...writeDiscovery(after, discoverFixed(registry, name), store.nowMs()),
    BUMP_REGISTRY,
  ];
  return { kind: 'plan', statements, definition, changes, warnings } as const;
}

/** A long chain has a link for every pair of its stages, so what they share is said once. */
function together(links: readonly StageLink[]): readonly (readonly unknown[])[] {
  const lists = new Map<string, readonly [number, string, number, number[]]>();
  for (const { stage, upstream, kind, rouses } of links) {
    const key = `${stage} ${kind} ${rouses}`;
    const list = lists.get(key) ?? ([stage, kind, rouses ? 1 : 0, []] as const);
    list[3].push(upstream);
    lists.set(key, list);
  }
  return [...lists.values()];
}

/** Other places on disk: nothing that is known of its paths is about the same files. */
function everythingRewired(changes: DefinitionChanges, workflow: Workflow): DefinitionChanges {
  const added = new Set(changes.added);
  const rewired = workflow.stages.map(({ id }) => id as string).filter((id) => !added.has(id));
  return { ...changes, rewired, changed: [] };
}

/** A stage that comes back gets the id it had, and with it its history. */
function stageIdsOf(known: Registered, name: string, { stages }: Workflow) {
  const before = known.stageIds.get(known.workflowIds.get(name) ?? 0) ?? new Map<string, number>();
  let next = known.nextStage;
  return new Map(stages.map(({ id }): [string, number] => [id, before.get(id) ?? next++]));
}

interface Written extends Registration {
  readonly definition: Blake3;
}

function writeWorkflow({ nowMs }: Store, of: RegisteredWorkflow, written: Written): Statement[] {
  const { name, source, workflow, root, target, by, definition } = written;
  const [now, hash] = [nowMs(), hashBlob(definition)];
  const stages = workflow.stages.map(({ id, target: on, collect }, position) => [
    ...[of.stageIds.get(id), id, position, on === LOCAL ? target : on],
    collect.maxWaitMs === null ? 0 : 1,
  ]);
  return [
    sql(WORKFLOW, of.id, name, root, target, hash, now),
    sql(DEFINITION, of.id, hash, source, JSON.stringify(workflow), now, by),
    sql(REMOVE_STAGES, now, of.id, JSON.stringify([...of.stageIds.values()])),
    sql(STAGES, of.id, JSON.stringify(stages)),
    sql(EVENT, now, of.id, JSON.stringify({ definition, by })),
  ];
}

interface Compared {
  /** The ids that the stages of the old definition have. */
  readonly before: ReadonlyMap<string, number>;
  readonly changes: DefinitionChanges;
}

function writeChanges({ nowMs }: Store, of: RegisteredWorkflow, { before, changes }: Compared): Statement[] {
  const ids = (names: readonly string[]) =>
    JSON.stringify(names.map((name) => before.get(name) ?? of.stageIds.get(name)));
  const reasons = changes.changed.flatMap(({ stage, reasons }) =>
    reasons.map((reason, i) => [of.stageIds.get(stage), `definition:${i}`, JSON.stringify(reason)]),
  );
  const rewired = ids(changes.rewired);
  return [
    ...(changes.removed.length > 0
      ? [sql(LOST_ATTEMPTS, ids(changes.removed), nowMs()), sql(REMOVE_STATES, ids(changes.removed))]
      : []),
    ...(changes.rewired.length > 0 ? REWIRE.map((text) => sql(text, rewired)) : []),
    ...(reasons.length > 0
      ? [sql(REASONS, JSON.stringify(reasons)), sql(STALE, ids(changes.changed.map(({ stage }) => stage)))]
      : []),
  ];
}

const WORKFLOW = `INSERT INTO workflows (id, name, root, target, definition, registered_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET root = excluded.root, target = excluded.target,
    definition = excluded.definition, registered_at = excluded.registered_at, deleted_at = NULL`;

const DEFINITION = `INSERT INTO definitions (workflow_id, hash, source, normal_form, registered_at, registered_by)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (workflow_id, hash) DO UPDATE SET source = excluded.source, registered_at = excluded.registered_at,
    registered_by = excluded.registered_by`;

const REMOVE_STAGES = `UPDATE stages SET removed_at = ?1
  WHERE workflow_id = ?2 AND removed_at IS NULL AND id NOT IN (SELECT value FROM json_each(?3))`;

const STAGES = `INSERT INTO stages (id, workflow_id, name, position, target, lenient)
  SELECT value ->> 0, ?1, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?2) WHERE true
  ON CONFLICT (workflow_id, name) DO UPDATE SET position = excluded.position, target = excluded.target,
    lenient = excluded.lenient, removed_at = NULL`;

const EVENT = `INSERT INTO events (at, workflow_id, event, body) VALUES (?, ?, 'workflow_registered', ?)`;

const LOST_ATTEMPTS = `UPDATE attempts SET ended_at = ?2, outcome = 'lost', error = 'its stage was removed'
  WHERE ended_at IS NULL AND token IN (SELECT token FROM states
    WHERE status = 'running' AND stage_id IN (SELECT value FROM json_each(?1)))`;

const REMOVE_STATES = 'DELETE FROM states WHERE stage_id IN (SELECT value FROM json_each(?))';

// Until its files are looked at again, a rewired stage has only orphans: nobody works on what may not exist. What
// is running ends stale, because it was begun under the old wiring.
const REWIRE = [
  `DELETE FROM inputs WHERE state_id IN
     (SELECT id FROM states WHERE stage_id IN (SELECT value FROM json_each(?)))`,
  `UPDATE paths SET maker_id = NULL, made_hash = NULL WHERE maker_id IN
     (SELECT id FROM states WHERE stage_id IN (SELECT value FROM json_each(?)))`,
  `UPDATE states SET rival_id = NULL WHERE rival_id IN
     (SELECT id FROM states WHERE stage_id IN (SELECT value FROM json_each(?)))`,
  `INSERT OR REPLACE INTO reasons (state_id, kind, path_id, detail, sequence)
     SELECT id, 'definition:0', 0, '{"reason":"cmd-changed"}', ${NEWEST_TOKEN}
     FROM states WHERE stage_id IN (SELECT value FROM json_each(?)) AND source = 0
       AND (cache_key IS NOT NULL OR status = 'running')`,
  `UPDATE states SET status = 'orphan' WHERE stage_id IN (SELECT value FROM json_each(?)) AND status <> 'running'`,
];

const REASONS = `INSERT OR REPLACE INTO reasons (state_id, kind, path_id, detail, sequence)
  SELECT s.id, v.value ->> 1, 0, v.value ->> 2, ${NEWEST_TOKEN}
  FROM json_each(?) v JOIN states s ON s.stage_id = v.value ->> 0
  WHERE s.cache_key IS NOT NULL OR s.status = 'running'`;

const STALE = `UPDATE states SET status = 'stale'
  WHERE stage_id IN (SELECT value FROM json_each(?)) AND status IN ('fresh', 'skipped', 'failed', 'exhausted')`;

// Materialized, or each field of the outer list is read anew for every link in the inner one.
const LINKS = `INSERT INTO stage_links (stage_id, upstream_id, kind, rouses)
  WITH lists AS MATERIALIZED (
    SELECT value ->> 0 AS stage_id, value ->> 1 AS kind, value ->> 2 AS rouses, value -> 3 AS upstreams
    FROM json_each(?))
  SELECT l.stage_id, u.value, l.kind, l.rouses FROM lists l CROSS JOIN json_each(l.upstreams) u
  WHERE true ON CONFLICT DO NOTHING`;
