// The lock file as records: what each state was last made from, read before a run and kept up to date during it.

import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../host/atomic-write.ts';
import { type HashBytes, hashValue } from '../../schema/blake3.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { LockFile, Recipe, StageLock, StateLock } from '../../schema/lock-file/shape.ts';
import { checkLockFile, LOCK_SCHEMA, parseLockFile, updateLockFile } from '../../schema/lock-file.ts';
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
  #isWritable = false;
  /** Set and not yet in the file. */
  readonly #unsaved = new Map<
    string,
    { readonly stage: Stage; readonly entity: string; readonly entry: Entry }
  >();
  #stamp: string;

  /** `damaged` is told of a file that cannot be read, which then counts as missing; without it that is refused. */
  constructor(path: string, workflow: Workflow, hash: HashBytes, damaged?: (damage: LockDamage) => void) {
    this.#path = path;
    this.#workflow = workflow;
    this.#hash = hash;
    this.#stamp = stampOf(path);
    const text = readIfThere(path);
    const lock = text === null ? null : readLock({ text, path, workflow, damaged });
    this.#text = lock === null ? null : text;
    this.existed = lock !== null;
    this.#stages = new Map(lock === null ? [] : lock.stages);
  }

  /** The bytes that are in the file now, as far as we know. */
  get text(): string | null {
    return this.#text;
  }

  entries(): LockEntry[] {
    return [...this.#stages].flatMap(([stage, locked]) =>
      [...locked.entities].map(([entity, state]) => ({
        stage,
        entity,
        state,
        recipe: state.recipe ?? locked,
      })),
    );
  }

  cacheKeyOf(stage: string, entity: string): string | undefined {
    return this.#stages.get(stage)?.entities.get(entity)?.cache_key;
  }

  /** Entities that are no more have no place in it. */
  keepOnly(stage: string, entities: ReadonlySet<string>): void {
    const locked = this.#stages.get(stage);
    if (locked === undefined) return;
    const kept = [...locked.entities].filter(([entity]) => entities.has(entity));
    if (kept.length < locked.entities.size) this.#stages.set(stage, { ...locked, entities: new Map(kept) });
  }

  /** A state made under a new recipe leaves its siblings with the one that they were made under. */
  set(stage: Stage, entity: string, entry: Entry): void {
    this.#unsaved.set(`${stage.id}\0${entity}`, { stage, entity, entry });
    this.#put(stage, entity, entry);
  }

  /**
   * Takes what somebody else wrote into the file, as `git pull` does; what was made here since the last save stays.
   * Whether there was anything.
   */
  takeIn(): boolean {
    const stamp = stampOf(this.#path);
    if (stamp === this.#stamp || stamp === '') return false;
    const text = readIfThere(this.#path);
    if (text === null || text === this.#text) {
      this.#stamp = stamp;
      return false;
    }
    const reading = { text, path: this.#path, workflow: this.#workflow, damaged: undefined };
    const { stages } = readLock(reading)!;
    [this.#stamp, this.#text] = [stamp, text];
    this.#stages.clear();
    for (const [id, stage] of stages) this.#stages.set(id, stage);
    for (const { stage, entity, entry } of this.#unsaved.values()) this.#put(stage, entity, entry);
    return true;
  }

  #put({ id }: Stage, entity: string, { state, recipe }: Entry): void {
    const before = this.#stages.get(id);
    // One map for as long as the recipe stays: copied for every state it would be quadratic.
    const entities = (before?.entities ?? new Map()) as Map<string, StateLock>;
    if (before !== undefined && !sameRecipe(before, recipe)) {
      const { entities: _, ...old } = before;
      for (const [other, made] of entities) if (!made.recipe) entities.set(other, { ...made, recipe: old });
    }
    entities.set(entity, state);
    if (before === undefined || !sameRecipe(before, recipe)) this.#stages.set(id, { ...recipe, entities });
  }

  /** Asked before something is made: what cannot be recorded would be made again by every clone. */
  refuseReadOnly(): void {
    if (!this.#workflow.policy.lockFile || this.#isWritable) return;
    const closed = [this.#path, dirname(this.#path)].find((place) => !mayWrite(place));
    this.#isWritable = closed === undefined;
    if (closed === undefined) return;
    throw new CliError({
      code: 'cannot-write',
      message: `cannot write the lock file ${shown(this.#path)}: ${shown(closed)} is read-only for this user`,
      hint: `give permission to write it, or say \`policy: {lock_file: false}\`; nothing was started`,
    });
  }

  save(nowMs: number): void {
    if (!this.#workflow.policy.lockFile) return;
    const text = updateLockFile(this.#text, this.#lock(nowMs), {
      timings: this.#workflow.policy.lockTimings,
    });
    this.#unsaved.clear();
    if (text === this.#text) return;
    writeFileAtomic(this.#path, text, { onlyWriter: true });
    this.#text = text;
    this.#stamp = stampOf(this.#path);
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

interface Entry {
  readonly state: StateLock;
  readonly recipe: Recipe;
}

export interface LockEntry {
  readonly stage: string;
  readonly entity: string;
  readonly state: StateLock;
  readonly recipe: Recipe;
}

function sameRecipe(a: Recipe, b: Recipe): boolean {
  return a.cmd_hash === b.cmd_hash && a.params_hash === b.params_hash && a.target === b.target;
}

export interface LockDamage {
  readonly path: string;
  /** With the line. */
  readonly place: string;
  readonly message: string;
}

interface Reading {
  readonly text: string;
  readonly path: string;
  readonly workflow: Workflow;
  readonly damaged: ((damage: LockDamage) => void) | undefined;
}

function readLock({ text, path, workflow, damaged }: Reading): LockFile | null {
  const parsed = parseLockFile(text);
  const place = parsed.ok ? path : `${path}:${parsed.line}`;
  if (!parsed.ok && damaged !== undefined) {
    damaged({ path, place, message: parsed.message });
    return null;
  }
  const wrong = parsed.ok ? checkLockFile(parsed.lock, workflow.name) : parsed;
  if (parsed.ok && wrong === null) return parsed.lock;
  throw new CliError({
    code: 'bad-lock-file',
    message: `${place}: ${wrong!.message}`,
    hint: wrong!.hint,
    exitCode: EXIT.invalid,
  });
}

function mayWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new CliError({
      code: 'unreadable-lock-file',
      message: `cannot read the lock file ${path}: ${code === 'EISDIR' ? 'it is a directory' : message}`,
      hint: 'give this user permission to read it, or move it away: it is written anew from what is known here',
      cause: error,
    });
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
