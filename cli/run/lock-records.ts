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
import { LOCK_SCHEMA, updateLockFile } from '../../schema/lock-file.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { bytesOf, type LockDamage, readLock, refuseClosed, stampOf } from './lock-on-disk.ts';
import { entityIn, patchLock, type StagePatch } from './lock-text.ts';

declare const SLUICE_VERSION: string;

export interface LockPlace {
  readonly path: string;
  /** Where it is noted which bytes we wrote last. */
  readonly note: string;
  readonly workflow: Workflow;
  readonly blake3: Blake3Implementation;
  /** Is told of a file that cannot be read, which then counts as missing; without it that is refused. */
  readonly damaged?: ((damage: LockDamage) => void) | undefined;
}

/** Up to here stages that were read once are kept; beyond it the bytes are all that is. */
const SMALL_BYTES = 256 * 1024;

interface Patch extends StagePatch {
  readonly states: Map<string, StateLock>;
}

export class LockRecords {
  readonly existed: boolean;
  readonly #place: LockPlace;
  /** What is in the file now, as far as we know. */
  #parts: readonly Buffer[] | null;
  #digest: Uint8Array | null = null;
  /** Of the file when these bytes were in it. */
  #stamp: string;
  /** With what was set; read when first asked for as a whole. */
  #stages: Map<string, StageLock> | null = null;
  /** Set and not yet in the file, by stage; one after the other where the recipe has changed in between. */
  readonly #unsaved = new Map<string, Patch[]>();
  #isShrunk = false;
  #isWritable = false;
  #hasNote = true;
  #wasComplete = false;

  constructor(place: LockPlace) {
    this.#place = place;
    this.#stamp = stampOf(place.path);
    const bytes = bytesOf(place.path);
    this.#parts = bytes === null ? null : [bytes];
    // What others wrote is read now, so that nothing is begun with a file that is of no use.
    if (bytes !== null && this.#noted() === null) this.#read();
    this.existed = this.exists;
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
    const set = this.#unsaved.get(stage)?.findLast(({ states }) => states.has(entity));
    if (set !== undefined) return set.states.get(entity)!.cache_key;
    if (this.#stages === null && this.bytes !== null) {
      const found = entityIn(this.bytes, stage, entity);
      if (found !== null) return found?.cache_key;
    }
    return this.#read().get(stage)?.entities.get(entity)?.cache_key;
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
  set({ id }: Stage, entity: string, { state, recipe }: Entry): void {
    const patches = this.#unsaved.get(id) ?? [];
    const last = patches.at(-1);
    if (last !== undefined && sameRecipe(last.recipe, recipe)) last.states.set(entity, state);
    else patches.push({ recipe, states: new Map([[entity, state]]) });
    this.#unsaved.set(id, patches);
    if (this.#stages !== null) setIn(this.#stages, id, { recipe, states: new Map([[entity, state]]) });
  }

  /**
   * Takes what somebody else wrote into the file, as `git pull` does; what was made here since the last save stays.
   * Whether there was anything.
   */
  takeIn(): boolean {
    const { path, workflow } = this.#place;
    const stamp = stampOf(path);
    if (stamp === this.#stamp || stamp === '') return false;
    const bytes = bytesOf(path);
    if (bytes === null) return false;
    if (this.bytes?.equals(bytes)) {
      this.#stamp = stamp;
      return false;
    }
    const { stages } = readLock({ bytes, path, workflow })!;
    this.#hold([bytes], stamp);
    this.#stages = this.#withUnsaved(new Map(stages));
    this.#wasComplete = false;
    return true;
  }

  /** Asked before something is made. */
  refuseReadOnly(): void {
    const { workflow, path } = this.#place;
    if (!workflow.policy.lockFile || this.#isWritable) return;
    refuseClosed(path);
    this.#isWritable = true;
  }

  save(nowMs: number): void {
    const { workflow, path } = this.#place;
    if (!workflow.policy.lockFile || (this.#unsaved.size === 0 && !this.#isShrunk)) return;
    const before = this.#parts;
    const parts = this.#patched(nowMs) ?? [this.#formatted(nowMs)];
    this.#unsaved.clear();
    this.#isShrunk = false;
    if (before !== null && before.length === 1 && parts.length === 1 && before[0]!.equals(parts[0]!)) return;
    writeFileAtomic(path, parts, { onlyWriter: true });
    this.#hold(parts, stampOf(path));
    if (lengthOf(parts) > SMALL_BYTES) this.#stages = null;
  }

  /** Whether all that was known when this began is in it. */
  get wasComplete(): boolean {
    return this.#wasComplete;
  }

  /** For who knows by other means that these are the bytes that we wrote last, and complete. */
  believe(): void {
    this.#wasComplete = true;
  }

  /** Whether these bytes are the ones that we wrote last, for a workflow of this name (SEMANTICS 1). */
  isOurs(): boolean {
    const note = this.exists ? this.#noted() : null;
    this.#wasComplete ||= note === 'complete';
    return note !== null;
  }

  /** That these are our bytes, and whether all that is known is among them. */
  remember({ isComplete }: { readonly isComplete: boolean }): void {
    if (this.#parts === null) return;
    mkdirSync(dirname(this.#place.note), { recursive: true });
    writeFileSync(this.#place.note, isComplete ? `${this.#identity()}${COMPLETE}` : this.#identity());
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
    if (this.#digest !== null) return this.#digest;
    const stream = this.#place.blake3.start();
    for (const part of this.#parts ?? []) stream.update(part);
    this.#digest = stream.digest();
    return this.#digest;
  }

  #hold(parts: readonly Buffer[], stamp: string): void {
    [this.#parts, this.#stamp, this.#digest] = [parts, stamp, null];
  }

  #identity(): string {
    return `${Buffer.from(this.digest()).toString('hex')} ${this.#place.workflow.name}\n`;
  }

  /** What is noted of these bytes; null if they are not ours. */
  #noted(): 'complete' | 'ours' | null {
    const note = noteIn(this.#place.note);
    if (note === null) return null;
    const identity = this.#identity();
    return note === identity ? 'ours' : note === `${identity}${COMPLETE}` ? 'complete' : null;
  }

  #patched(nowMs: number): readonly Buffer[] | null {
    if (this.#stages !== null || this.bytes === null) return null;
    const stages = new Map<string, StagePatch>();
    for (const [id, patches] of this.#unsaved) {
      if (patches.length > 1) return null;
      stages.set(id, patches[0]!);
    }
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
    if (this.#stages !== null) return this.#stages;
    const { bytes } = this;
    const lock = bytes === null ? null : readLock({ bytes, ...this.#place });
    if (lock === null) this.#parts = null;
    this.#stages = this.#withUnsaved(new Map(lock?.stages));
    return this.#stages;
  }

  #withUnsaved(stages: Map<string, StageLock>): Map<string, StageLock> {
    for (const [id, patches] of this.#unsaved) for (const patch of patches) setIn(stages, id, patch);
    return stages;
  }
}

const COMPLETE = 'complete';

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

function noteIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
