// The lock file as records: what each state was last made from, read before a run and kept up to date during it.
//
//   bytes ──one entity after the other──▶ patched bytes          our own layout, a recipe that the file already has
//     └───read as a whole──▶ stages ──formatted──▶ bytes         anything else

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../host/atomic-write.ts';
import type { Blake3Implementation } from '../../host/blake3.ts';
import { hashValue } from '../../schema/blake3.ts';
import type { LockFile, Recipe, StageLock, StateLock } from '../../schema/lock-file/shape.ts';
import { checkLockFile, LOCK_SCHEMA, parseLockFile, updateLockFile } from '../../schema/lock-file.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { CliError, EXIT } from '../command.ts';
import { entityIn, patchLock, type StagePatch } from './lock-text.ts';

declare const SLUICE_VERSION: string;

export interface LockPlace {
  readonly path: string;
  /** Where it is noted which bytes we wrote last. */
  readonly note: string;
  readonly workflow: Workflow;
  readonly blake3: Blake3Implementation;
}

/** Up to here stages that were read once are kept; beyond it the bytes are all that is. */
const SMALL_BYTES = 256 * 1024;

export class LockRecords {
  readonly existed: boolean;
  readonly #place: LockPlace;
  /** What is in the file now, as far as we know. */
  #parts: readonly Buffer[] | null;
  /** Read when first asked for as a whole. */
  #stages: Map<string, StageLock> | null = null;
  /** Set since they were last saved; not in `#stages`. */
  #patches = new Map<string, { readonly recipe: Recipe; readonly states: Map<string, StateLock> }>();
  #isShrunk = false;
  #hasNote = true;
  #wasOurs = false;

  constructor(place: LockPlace) {
    this.#place = place;
    const bytes = readIfThere(place.path);
    this.#parts = bytes === null ? null : [bytes];
    this.existed = bytes !== null;
  }

  /** Null if there is no file. */
  get bytes(): Buffer | null {
    if (this.#parts !== null && this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts?.[0] ?? null;
  }

  get exists(): boolean {
    return this.#parts !== null;
  }

  entries(): LockEntry[] {
    return [...this.#read()].flatMap(([stage, locked]) =>
      [...locked.entities].map(([entity, state]) => ({
        stage,
        entity,
        state,
        recipe: state.recipe ?? locked,
      })),
    );
  }

  cacheKeyOf(stage: string, entity: string): string | undefined {
    const set = this.#patches.get(stage)?.states.get(entity);
    if (set !== undefined) return set.cache_key;
    if (this.#stages === null && this.bytes !== null) {
      const found = entityIn(this.bytes, stage, entity);
      if (found !== null) return found?.cache_key;
    }
    const stages = this.#stages ?? this.#read();
    return stages.get(stage)?.entities.get(entity)?.cache_key;
  }

  /** Entities that are no more have no place in it. */
  keepOnly(stage: string, entities: ReadonlySet<string>): void {
    const stages = this.#read();
    const locked = stages.get(stage);
    if (locked === undefined) return;
    const kept = [...locked.entities].filter(([entity]) => entities.has(entity));
    if (kept.length === locked.entities.size) return;
    stages.set(stage, { ...locked, entities: new Map(kept) });
    this.#isShrunk = true;
  }

  /** A state made under a new recipe leaves its siblings with the one that they were made under. */
  set({ id }: Stage, entity: string, { state, recipe }: { state: StateLock; recipe: Recipe }): void {
    const patch = this.#patches.get(id);
    if (patch !== undefined && !sameRecipe(patch.recipe, recipe)) {
      this.#read();
      this.#patches.delete(id);
    }
    const states = this.#patches.get(id)?.states ?? new Map();
    this.#patches.set(id, { recipe, states: states.set(entity, state) });
  }

  save(nowMs: number): void {
    const { workflow, path } = this.#place;
    if (!workflow.policy.lockFile || (this.#patches.size === 0 && !this.#isShrunk)) return;
    const before = this.#parts;
    const parts = this.#patched(nowMs) ?? [this.#formatted(nowMs)];
    this.#patches.clear();
    this.#isShrunk = false;
    if (before !== null && before.length === 1 && parts.length === 1 && before[0]!.equals(parts[0]!)) return;
    writeFileAtomic(path, parts, { onlyWriter: true });
    this.#parts = parts;
    if (lengthOf(parts) > SMALL_BYTES) this.#stages = null;
  }

  /** Whether all that was known when this began is in it. */
  get wasComplete(): boolean {
    return this.#wasOurs;
  }

  /** For who knows by other means that these are the bytes that we wrote last. */
  believe(): void {
    this.#wasOurs = true;
  }

  /** Whether these bytes are the ones that we wrote last, for a workflow of this name (SEMANTICS 1). */
  isOurs(): boolean {
    this.#wasOurs ||= this.#parts !== null && readIfThere(this.#place.note)?.toString() === this.#noted();
    return this.#wasOurs;
  }

  /** To be called when all that is known is in the file. */
  remember(): void {
    if (this.#parts === null) return;
    mkdirSync(dirname(this.#place.note), { recursive: true });
    writeFileSync(this.#place.note, this.#noted());
    this.#hasNote = true;
  }

  /** To be called before anything is made that the file does not know of: who dies then leaves it incomplete. */
  fallsBehind(): void {
    if (!this.#hasNote) return;
    rmSync(this.#place.note, { force: true });
    this.#hasNote = false;
  }

  /** Of the bytes. */
  digest(): Uint8Array {
    const stream = this.#place.blake3.start();
    for (const part of this.#parts ?? []) stream.update(part);
    return stream.digest();
  }

  #noted(): string {
    return `${Buffer.from(this.digest()).toString('hex')} ${this.#place.workflow.name}`;
  }

  #patched(nowMs: number): readonly Buffer[] | null {
    if (this.#stages !== null || this.bytes === null) return null;
    const stages: ReadonlyMap<string, StagePatch> = this.#patches;
    return patchLock(this.bytes, { head: this.#head(nowMs), stages, options: this.#options() });
  }

  #formatted(nowMs: number): Buffer {
    const stages = this.#read();
    const inFileOrder = this.#place.workflow.stages.flatMap(({ id }): [string, StageLock][] => {
      const stage = stages.get(id);
      return stage === undefined ? [] : [[id, stage]];
    });
    const lock = { ...this.#head(nowMs), stages: new Map(inFileOrder) };
    return Buffer.from(updateLockFile(this.bytes?.toString() ?? null, lock, this.#options()));
  }

  #options() {
    return { timings: this.#place.workflow.policy.lockTimings };
  }

  #head(nowMs: number): Omit<LockFile, 'stages'> {
    const { workflow, blake3 } = this.#place;
    return {
      schema: LOCK_SCHEMA,
      playbook: workflow.name,
      generated_at: new Date(nowMs).toISOString(),
      generator: `sluice ${SLUICE_VERSION}`,
      blake3_version: '1',
      params_hash: hashValue(blake3.hash, 'params', workflow.params),
    };
  }

  /** All of them, with what was set. */
  #read(): Map<string, StageLock> {
    const { path, workflow } = this.#place;
    this.#stages ??= new Map(
      this.bytes === null ? [] : readLock(this.bytes.toString(), path, workflow).stages,
    );
    for (const [id, patch] of this.#patches) setIn(this.#stages, id, patch);
    return this.#stages;
  }
}

export interface LockEntry {
  readonly stage: string;
  readonly entity: string;
  readonly state: StateLock;
  readonly recipe: Recipe;
}

function setIn(stages: Map<string, StageLock>, id: string, { recipe, states }: StagePatch): void {
  const before = stages.get(id);
  // One map for as long as the recipe stays: copied for every state it would be quadratic.
  const entities = (before?.entities ?? new Map()) as Map<string, StateLock>;
  if (before !== undefined && !sameRecipe(before, recipe)) {
    const { entities: _, ...old } = before;
    for (const [other, made] of entities) if (!made.recipe) entities.set(other, { ...made, recipe: old });
  }
  for (const [entity, state] of states) entities.set(entity, state);
  if (before === undefined || !sameRecipe(before, recipe)) stages.set(id, { ...recipe, entities });
}

function sameRecipe(a: Recipe, b: Recipe): boolean {
  return a.cmd_hash === b.cmd_hash && a.params_hash === b.params_hash && a.target === b.target;
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
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

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
