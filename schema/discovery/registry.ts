// All registered workflows with their patterns at absolute places, arranged so that a path finds its readers.

import picomatch from 'picomatch/posix';
import { buildDag } from '../dag.ts';
import { PathMatcher } from '../path-matcher.ts';
import { type Bindings, type Pattern, parsePattern } from '../pattern.ts';
import { type EntityId, LOCAL, type TargetName } from '../words.ts';
import type { DepBinding, Stage, Validation, Workflow } from '../workflow.ts';
import { placePattern, rootOn } from './place.ts';

export interface RegisteredWorkflow {
  readonly id: number;
  readonly name: string;
  /** Absolute: where its relative paths stand, on targets that name no root of their own. */
  readonly root: string;
  /** The machine that stages without a target belong to. */
  readonly target: TargetName;
  readonly workflow: Workflow;
  readonly stageIds: ReadonlyMap<string, number>;
}

export interface Registry {
  readonly stages: readonly PlacedStage[];
  readonly readers: ReadonlyMap<TargetName, PathMatcher<Reader>>;
  readonly makers: ReadonlyMap<TargetName, PathMatcher<PlacedStage>>;
  /** Directory deps, for what is made inside of them. */
  readonly directoryReaders: ReadonlyMap<TargetName, PathMatcher<Reader>>;
  /** Directory outs, for deps that lie inside of them. */
  readonly directoryMakers: ReadonlyMap<TargetName, PathMatcher<PlacedStage>>;
}

export interface PlacedStage {
  readonly id: number;
  readonly of: RegisteredWorkflow;
  readonly stage: Stage;
  readonly target: TargetName;
  /** How far from the workflow's first stages. */
  readonly depth: number;
  readonly deps: readonly PlacedPath[];
  /** Files whose content is part of the command: read like deps that all entities share. */
  readonly code: readonly PlacedPath[];
  readonly outs: readonly PlacedPath[];
}

export interface PlacedPath {
  readonly target: TargetName;
  readonly pattern: Pattern;
}

/** One way in which a path matters to a stage. */
export interface Reader {
  readonly placed: PlacedStage;
  readonly dep: number;
  readonly pattern: Pattern;
  readonly binding: DepBinding;
  /** Its matches make the stage's entities. */
  readonly drives: boolean;
  readonly filter: Validation | null;
  /** A fan-out's choice among the files of its directory, by their path below it. */
  readonly picks: ((relative: string) => boolean) | null;
}

export function buildRegistry(workflows: readonly RegisteredWorkflow[]): Registry {
  const stages = workflows.flatMap((of) => {
    const { dag } = buildDag(of.workflow.stages);
    return of.workflow.stages.map((stage) => placeStage(of, stage, dag.depth.get(stage.id) ?? 0));
  });
  const readers = new Map<TargetName, PathMatcher<Reader>>();
  const makers = new Map<TargetName, PathMatcher<PlacedStage>>();
  const directoryReaders = new Map<TargetName, PathMatcher<Reader>>();
  const directoryMakers = new Map<TargetName, PathMatcher<PlacedStage>>();
  for (const placed of stages) {
    for (const { target, reader } of readersOf(placed)) {
      if (reader.picks === null) matcherOn(readers, target).add(reader.pattern, reader);
      if (reader.pattern.directory) matcherOn(directoryReaders, target).add(reader.pattern, reader);
    }
    if (placed.stage.kind === 'source') continue;
    for (const { target, pattern } of placed.outs) {
      matcherOn(makers, target).add(pattern, placed);
      if (pattern.directory) matcherOn(directoryMakers, target).add(pattern, placed);
    }
  }
  return { stages, readers, makers, directoryReaders, directoryMakers };
}

/** The id of the entity that these values make; values hold no slash, so it can be taken apart again. */
export function entityOf(stage: Stage, bindings: Bindings): EntityId {
  return stage.variables.map((name) => bindings[name]!).join('/') as EntityId;
}

export function bindingsOf(stage: Stage, entity: string): Bindings {
  const values = entity.split('/');
  return Object.fromEntries(stage.variables.map((name, i) => [name, values[i]!]));
}

function placeStage(of: RegisteredWorkflow, stage: Stage, depth: number): PlacedStage {
  const place = (path: string, target: TargetName): PlacedPath => {
    const parsed = parsePattern(path);
    if (!parsed.ok) throw new Error(`not a pattern after loading: ${path}`);
    return { target: named(of, target), pattern: placePattern(parsed.pattern, rootOn(of, target)) };
  };
  return {
    id: of.stageIds.get(stage.id)!,
    of,
    stage,
    target: named(of, stage.target),
    depth,
    deps: stage.deps.map(({ path, target }) => place(path, target)),
    code: stage.code.map((path) => place(path, stage.target)),
    outs: stage.outs.map(({ path, remote }) => place(path, remote ?? stage.target)),
  };
}

function named(of: RegisteredWorkflow, target: TargetName): TargetName {
  return target === LOCAL ? of.target : target;
}

function readersOf(placed: PlacedStage): { readonly target: TargetName; readonly reader: Reader }[] {
  const { stage, deps, outs, of } = placed;
  if (stage.kind === 'source') {
    return outs.map(({ target, pattern }) => ({
      target,
      reader: { placed, dep: 0, pattern, binding: 'one', drives: true, filter: stage.filter, picks: null },
    }));
  }
  const ofCode = placed.code.map(({ target, pattern }) => ({
    target,
    reader: {
      placed,
      dep: -1,
      pattern,
      binding: 'shared' as const,
      drives: false,
      filter: null,
      picks: null,
    },
  }));
  const ofDeps = deps.map(({ target, pattern }, dep) => {
    const { binding, stage: from } = stage.deps[dep]!;
    const picks = stage.fanOut !== null && dep === 0 ? globOf(stage.fanOut.glob) : null;
    const isCollectedAlone = stage.variables.length === 0 && binding === 'collected';
    const filter =
      of.workflow.stages.find(({ id, kind }) => id === from && kind === 'source')?.filter ?? null;
    const drives = stage.driver === dep || isCollectedAlone || picks !== null;
    return { target, reader: { placed, dep, pattern, binding, drives, filter, picks } };
  });
  return [...ofDeps, ...ofCode];
}

function globOf(glob: string | null): (relative: string) => boolean {
  return glob === null
    ? () => true
    : (picomatch(glob, { dot: false, flags: 's' }) as (relative: string) => boolean);
}

function matcherOn<T>(matchers: Map<TargetName, PathMatcher<T>>, target: TargetName): PathMatcher<T> {
  const known = matchers.get(target) ?? new PathMatcher<T>();
  matchers.set(target, known);
  return known;
}
