// The lock file as records: what each state was last made from, read before a run and kept up to date during it.

import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../host/atomic-write.ts';
import { type HashBytes, hashValue } from '../../schema/blake3.ts';
import type { Key, Preimage } from '../../schema/key.ts';
import type { LockFile, Recipe, StageLock, StateLock } from '../../schema/lock-file/shape.ts';
import { checkLockFile, LOCK_SCHEMA, parseLockFile, updateLockFile } from '../../schema/lock-file.ts';
import type { StateRecord } from '../../schema/verdict.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { CliError, EXIT } from '../command.ts';

declare const SLUICE_VERSION: string;

export class LockRecords {
  readonly existed: boolean;
  readonly #path: string;
  readonly #workflow: Workflow;
  readonly #hash: HashBytes;
  readonly #stages: Map<string, StageLock>;
  #text: string | null;

  constructor(path: string, workflow: Workflow, hash: HashBytes) {
    this.#path = path;
    this.#workflow = workflow;
    this.#hash = hash;
    this.#text = readIfThere(path);
    this.existed = this.#text !== null;
    this.#stages = new Map(this.#text === null ? [] : readLock(this.#text, path, workflow).stages);
  }

  recordsOf({ id }: Stage, entity: string, current: CurrentKey): StateRecord[] {
    const stage = this.#stages.get(id);
    const state = stage?.entities.get(entity);
    if (stage === undefined || state === undefined) return [];
    return [toRecord(state, state.recipe ?? stage, current)];
  }

  /** A state made under a new recipe leaves its siblings with the one that they were made under. */
  set({ id }: Stage, entity: string, { state, recipe }: { state: StateLock; recipe: Recipe }): void {
    const before = this.#stages.get(id);
    const entities = new Map(before?.entities ?? []);
    if (before !== undefined && !sameRecipe(before, recipe)) {
      const { entities: _, ...old } = before;
      for (const [other, made] of entities) if (!made.recipe) entities.set(other, { ...made, recipe: old });
    }
    entities.set(entity, state);
    this.#stages.set(id, { ...recipe, entities });
  }

  save(nowMs: number): void {
    if (!this.#workflow.policy.lockFile) return;
    const text = updateLockFile(this.#text, this.#lock(nowMs), {
      timings: this.#workflow.policy.lockTimings,
    });
    if (text === this.#text) return;
    writeFileAtomic(this.#path, text);
    this.#text = text;
  }

  #lock(nowMs: number): LockFile {
    const inFileOrder = this.#workflow.stages.flatMap(({ id }): [string, StageLock][] => {
      const stage = this.#stages.get(id);
      return stage === undefined ? [] : [[id, stage]];
    });
    return {
      schema: LOCK_SCHEMA,
      playbook: this.#workflow.name,
      generated_at: new Date(nowMs).toISOString(),
      generator: `sluice ${SLUICE_VERSION}`,
      blake3_version: '1',
      params_hash: hashValue(this.#hash, 'params', this.#workflow.params),
      stages: new Map(inFileOrder),
    };
  }
}

export interface CurrentKey {
  readonly key: Key;
  readonly preimage: Preimage;
}

/** The lock file keeps the command's hash, not its text: where that is equal, the text was the present one. */
function toRecord(state: StateLock, recipe: Recipe, { key, preimage }: CurrentKey): StateRecord {
  const sameCode = JSON.stringify(recipe.code) === JSON.stringify(preimage.code);
  const sameAction = recipe.cmd_hash === key.cmdHash || !sameCode;
  const params = [...recipe.params].map(([name, param]) => [
    name,
    'value' in param ? param.value : param.secret,
  ]);
  return {
    cacheKey: state.cache_key,
    preimage: {
      action: sameAction ? preimage.action : { kind: 'none' },
      code: recipe.code,
      params: Object.fromEntries(params),
      deps: state.deps,
    },
    outs: state.outs,
    skipped: state.status === 'skipped',
  };
}

function sameRecipe(a: Recipe, b: Recipe): boolean {
  return a.cmd_hash === b.cmd_hash && a.params_hash === b.params_hash && a.target === b.target;
}

function readLock(text: string, path: string, workflow: Workflow): LockFile {
  const parsed = parseLockFile(text);
  const wrong = parsed.ok ? checkLockFile(parsed.lock, workflow.name) : parsed;
  if (parsed.ok && wrong === null) return parsed.lock;
  const place = parsed.ok ? path : `${path}:${parsed.line}`;
  throw new CliError({
    code: 'bad-lock-file',
    message: `${place}: ${wrong!.message}`,
    hint: wrong!.hint,
    exitCode: EXIT.invalid,
  });
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
