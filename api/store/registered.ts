// What is registered, kept in memory between requests and never trusted blindly: every write that was decided by
// it carries its version, and fails if another process has registered something meanwhile.

import {
  buildRegistry,
  type PlacedStage,
  type RegisteredWorkflow,
  type Registry,
} from '../../schema/discovery/registry.ts';
import type { Blake3, TargetName } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { type Database, DatabaseError, type Statement, sql } from './database.ts';
import { textHash } from './hashes.ts';

export interface KnownWorkflow extends RegisteredWorkflow {
  readonly definition: Blake3;
  readonly paused: boolean;
}

export interface Registered {
  readonly version: number;
  readonly workflows: ReadonlyMap<string, KnownWorkflow>;
  readonly stages: ReadonlyMap<number, PlacedStage>;
  readonly registry: Registry;
  /** Of all that ever were, so that what comes back finds its history. */
  readonly workflowIds: ReadonlyMap<string, number>;
  readonly stageIds: ReadonlyMap<number, ReadonlyMap<string, number>>;
  /** The first ids that nobody has used. */
  readonly nextWorkflow: number;
  readonly nextStage: number;
}

export class RegisteredCache {
  readonly #db: Database;
  #known: Registered | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  async current(): Promise<Registered> {
    this.#known ??= await loadRegistered(this.#db);
    return this.#known;
  }

  /** One round trip; loads anew only if something was registered since. For requests that write nothing. */
  async checked(): Promise<Registered> {
    const known = await this.current();
    const [found] = await this.#db.batch([sql(VERSION)], 'read');
    if (found!.rows[0]!.value !== known.version) this.forget();
    return this.current();
  }

  forget(): void {
    this.#known = null;
  }

  /** Does what was decided by the registry, again with a newer one if it turns out to be old. */
  async decide<Result>(act: (known: Registered) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await act(await this.current());
      } catch (error) {
        if (!isOutdated(error) || attempt === MOST_ATTEMPTS) throw error;
        this.forget();
      }
    }
  }
}

const MOST_ATTEMPTS = 10;
const VERSION = "SELECT value FROM counters WHERE name = 'registry'";

/** To stand first in a batch: fails on NOT NULL, and with it the batch, unless the registry is this one. */
export function unlessOutdated({ version }: Registered): Statement {
  return sql(
    "UPDATE counters SET value = CASE WHEN value = ? THEN value END WHERE name = 'registry'",
    version,
  );
}

export const BUMP_REGISTRY = sql("UPDATE counters SET value = value + 1 WHERE name = 'registry'");

export class Outdated extends Error {}

function isOutdated(error: unknown): boolean {
  if (error instanceof Outdated) return true;
  return error instanceof DatabaseError && /NOT NULL.*counters\.value/.test(error.message);
}

async function loadRegistered(db: Database): Promise<Registered> {
  const [version, workflows, stages, names, ids] = await db.batch(
    [
      sql(VERSION),
      sql(
        `SELECT w.id, w.name, w.root, w.target, w.paused_at, lower(hex(w.definition)) AS definition, d.normal_form
         FROM workflows w JOIN definitions d ON d.workflow_id = w.id AND d.hash = w.definition
         WHERE w.deleted_at IS NULL ORDER BY w.id`,
      ),
      sql('SELECT id, workflow_id, name FROM stages'),
      sql('SELECT id, name FROM workflows'),
      sql(
        `SELECT (SELECT coalesce(max(id), 0) + 1 FROM workflows) AS workflow,
                (SELECT coalesce(max(id), 0) + 1 FROM stages) AS stage`,
      ),
    ],
    'read',
  );
  const stageIds = new Map<number, Map<string, number>>();
  for (const { id, workflow_id, name } of stages!.rows) {
    const of = stageIds.get(workflow_id as number) ?? new Map<string, number>();
    stageIds.set(workflow_id as number, of.set(name as string, id as number));
  }
  const known = workflows!.rows.map(
    (row): KnownWorkflow => ({
      id: row.id as number,
      name: row.name as string,
      root: row.root as string,
      target: row.target as TargetName,
      workflow: JSON.parse(row.normal_form as string) as Workflow,
      stageIds: stageIds.get(row.id as number) ?? new Map(),
      definition: textHash(row.definition as string),
      paused: row.paused_at !== null,
    }),
  );
  const registry = buildRegistry(known);
  return {
    version: version!.rows[0]!.value as number,
    workflows: new Map(known.map((workflow) => [workflow.name, workflow])),
    stages: new Map(registry.stages.map((stage) => [stage.id, stage])),
    registry,
    workflowIds: new Map(names!.rows.map(({ id, name }) => [name as string, id as number])),
    stageIds,
    nextWorkflow: ids!.rows[0]!.workflow as number,
    nextStage: ids!.rows[0]!.stage as number,
  };
}
