// Paths in, states out: which states exist because of these paths, what each reads and what each will make.
//
// What a state will make counts as a path too, so one dropped file gives the whole chain behind it (SEMANTICS 9).

import { type Bindings, expandPattern } from '../pattern.ts';
import type { EntityId, TargetName } from '../words.ts';
import { fanOutOutput } from './fan-out.ts';
import { pathId } from './place.ts';
import { entityOf, type PlacedPath, type PlacedStage, type Reader, type Registry } from './registry.ts';

export interface SeenPath {
  readonly target: TargetName;
  readonly path: string;
  /** Of what is on disk; absent for a path that is only expected. */
  readonly size?: number;
  readonly files?: number | undefined;
}

export interface Discovery {
  readonly states: readonly FoundState[];
  readonly inputs: readonly FoundInput[];
  readonly outs: readonly FoundOut[];
  /** Collected deps of new states whose members may be known already. */
  readonly lookups: readonly MemberLookup[];
  /** Members that many entities share, each found by the values that the member does say. */
  readonly followers: readonly Follower[];
}

export interface FoundState {
  readonly stage: number;
  readonly entity: EntityId;
  readonly source: boolean;
}

interface OfState {
  readonly stage: number;
  readonly entity: EntityId;
  readonly target: TargetName;
  readonly path: string;
}

export interface FoundInput extends OfState {
  readonly member: boolean;
  readonly driver: boolean;
}

export type FoundOut = OfState;

export interface Follower {
  readonly stage: number;
  readonly entityGlob: string;
  readonly target: TargetName;
  readonly path: string;
}

export interface MemberLookup {
  readonly stage: number;
  readonly entity: EntityId;
  readonly target: TargetName;
  /** With this entity's values filled in; what is still variable is collected. */
  readonly glob: string;
  readonly prefix: string;
  readonly slashes: number;
}

export function discover(registry: Registry, seen: readonly SeenPath[]): Discovery {
  const search = new Search(registry);
  for (const path of seen) search.look(path);
  search.finish();
  return search;
}

/** The states that exist whatever is on disk: those of stages without variables that collect nothing. */
export function discoverFixed(registry: Registry, workflow: string): Discovery {
  const search = new Search(registry);
  for (const placed of registry.stages) {
    const { variables, kind, fanOut, deps } = placed.stage;
    const isFixed =
      variables.length === 0 && fanOut === null && !deps.some(({ binding }) => binding === 'collected');
    if (placed.of.name === workflow && isFixed && kind !== 'source')
      search.have(placed, {}, '' as EntityId, null);
  }
  search.finish();
  return search;
}

class Search implements Discovery {
  readonly states: FoundState[] = [];
  readonly inputs: FoundInput[] = [];
  readonly outs: FoundOut[] = [];
  readonly lookups: MemberLookup[] = [];
  readonly followers: Follower[] = [];
  readonly #registry: Registry;
  readonly #known = new Set<string>();
  readonly #expected: SeenPath[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  look(seen: SeenPath): void {
    const path = pathId(seen.path);
    for (const { value: reader, bindings } of this.#registry.readers.get(seen.target)?.match(path) ?? [])
      this.#read(reader, bindings, { ...seen, path });
    for (const { value: reader, bindings } of this.#registry.directoryReaders
      .get(seen.target)
      ?.around(path) ?? [])
      this.#readInside(reader, bindings, { ...seen, path });
  }

  finish(): void {
    for (let next = this.#expected.pop(); next !== undefined; next = this.#expected.pop()) this.look(next);
  }

  #read(reader: Reader, bindings: Bindings, seen: SeenPath): void {
    const { placed, binding, drives } = reader;
    const entity = entityOf(placed.stage, bindings);
    if (drives) {
      if (!passes(reader, seen)) return;
      this.have(placed, bindings, entity, null);
    }
    if (binding !== 'collected') return;
    if (bindsAll(placed, bindings)) this.#input(placed, entity, { ...seen, member: true, driver: drives });
    else this.followers.push({ ...seen, stage: placed.id, entityGlob: entityGlob(placed, bindings) });
  }

  /** Inside a directory dep: a file of a fan-out, or something that another stage makes there. */
  #readInside({ placed, pattern, picks }: Reader, bindings: Bindings, seen: SeenPath): void {
    if (placed.stage.kind === 'source') return;
    if (picks !== null) {
      const directory = pathId(expandPattern(pattern, bindings)!);
      const relative = seen.path.slice(directory.length + 1);
      if (picks(relative)) this.have(placed, bindings, relative as EntityId, relative);
      return;
    }
    if (seen.size === undefined && bindsAll(placed, bindings))
      this.#input(placed, entityOf(placed.stage, bindings), { ...seen, member: true, driver: false });
  }

  /** `relative` is set for a fan-out: the one input that this state is about. */
  have(placed: PlacedStage, bindings: Bindings, entity: EntityId, relative: string | null): void {
    const key = `${placed.id}\0${entity}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const source = placed.stage.kind === 'source';
    this.states.push({ stage: placed.id, entity, source });
    if (source) {
      this.#readOwn(placed, bindings, entity);
      return;
    }
    // A frozen stage needs none of its inputs and follows none of them (SEMANTICS 6).
    if (!placed.stage.frozen) this.#readAll(placed, bindings, { entity, relative });
    this.#makeAll(placed, bindings, { entity, relative });
  }

  #readOwn(placed: PlacedStage, bindings: Bindings, entity: EntityId): void {
    for (const { target, pattern } of placed.outs)
      this.#input(placed, entity, { target, path: filled(pattern, bindings), member: true, driver: true });
  }

  #readAll(placed: PlacedStage, bindings: Bindings, { entity, relative }: Subject): void {
    for (const { target, pattern } of placed.code)
      this.#input(placed, entity, { target, path: filled(pattern, bindings), member: false, driver: false });
    for (const [index, { target, pattern }] of placed.deps.entries()) {
      if (relative !== null && index === 0) {
        const path = `${filled(pattern, bindings)}/${relative}`;
        this.#input(placed, entity, { target, path, member: false, driver: true });
      } else if (placed.stage.deps[index]!.binding !== 'collected') {
        const path = filled(pattern, bindings);
        const member = pattern.directory && this.#isMadeInside({ target, pattern });
        this.#input(placed, entity, { target, path, member, driver: placed.stage.driver === index });
      } else if (placed.stage.driver !== index && placed.stage.variables.length > 0) {
        this.lookups.push({ stage: placed.id, entity, target, ...globFor(pattern, bindings) });
      }
    }
  }

  #makeAll(placed: PlacedStage, bindings: Bindings, { entity, relative }: Subject): void {
    for (const [index, { target, pattern }] of placed.outs.entries()) {
      const base = filled(pattern, bindings);
      const isFanned = relative !== null && index === 0;
      const path = isFanned ? `${base}/${fanOutOutput(placed.stage, relative)}` : base;
      this.outs.push({ stage: placed.id, entity, target, path });
      this.#expected.push({ target, path });
    }
  }

  #input(placed: PlacedStage, entity: EntityId, input: Omit<FoundInput, 'stage' | 'entity'>): void {
    const { target, path, member, driver } = input;
    this.inputs.push({ stage: placed.id, entity, target, path, member, driver });
  }

  /** A directory that stages fill need not be there before they do: each of their outs is waited for. */
  #isMadeInside({ target, pattern }: PlacedPath): boolean {
    return this.#registry.stages.some(
      ({ stage, outs }) =>
        stage.kind !== 'source' && outs.some((out) => out.target === target && isBelow(out.pattern, pattern)),
    );
  }
}

interface Subject {
  readonly entity: EntityId;
  readonly relative: string | null;
}

function passes({ filter }: Reader, { size, files }: SeenPath): boolean {
  if (filter === null || size === undefined) return true;
  return size >= (filter.minSize ?? 0) && (files ?? 1) >= (filter.minFiles ?? 0);
}

function bindsAll({ stage }: PlacedStage, bindings: Bindings): boolean {
  return stage.variables.every((name) => bindings[name] !== undefined);
}

/** Values hold no slash, so a star between slashes stands for exactly one of them. */
function entityGlob({ stage }: PlacedStage, bindings: Bindings): string {
  return stage.variables.map((name) => escapeGlob(bindings[name]) ?? '*').join('/');
}

function escapeGlob(text: string | undefined): string | undefined {
  return text?.replaceAll(/[*?[]/g, '[$&]');
}

function filled(pattern: Parameters<typeof expandPattern>[0], bindings: Bindings): string {
  const path = expandPattern(pattern, bindings);
  if (path === null) throw new Error(`${pattern.text} cannot be filled`);
  return pathId(path);
}

function isBelow(pattern: PlacedPath['pattern'], directory: PlacedPath['pattern']): boolean {
  return (
    pattern.segments.length > directory.segments.length &&
    directory.segments.every((segment, i) => JSON.stringify(segment) === JSON.stringify(pattern.segments[i]))
  );
}

/** For SQL's GLOB, where `*` also crosses slashes: hence the number of slashes beside it. */
function globFor(pattern: PlacedPath['pattern'], bindings: Bindings) {
  let [glob, prefix, isOpen] = ['', '', false];
  for (const segment of pattern.segments) {
    glob += '/';
    if (!isOpen) prefix += '/';
    for (const part of segment) {
      const text = part.kind === 'literal' ? part.text : bindings[part.name];
      isOpen ||= text === undefined;
      glob += escapeGlob(text) ?? '*';
      if (!isOpen) prefix += text;
    }
  }
  return { glob, prefix, slashes: pattern.segments.length };
}
