// Which states a stage has, and where the files of each are: patterns and disk in, entities and paths out.

import { resolve } from 'node:path';
import {
  type Bindings,
  expandPattern,
  matchPattern,
  type Pattern,
  parsePattern,
} from '../../schema/pattern.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';

export interface StateInput {
  /** As it enters the key: the path of this entity, or the pattern of a collected dep. */
  readonly name: string;
  readonly collected: boolean;
  /** Relative as written; one, or every member of a collected dep in order. */
  readonly paths: readonly string[];
}

export interface FoundState {
  readonly stage: Stage;
  readonly entity: EntityId;
  readonly bindings: Bindings;
  readonly inputs: readonly StateInput[];
  readonly outs: readonly string[];
}

/** `list` gives every path that matches: those on disk and those still expected from an earlier stage. */
export function findStates(
  stage: Stage,
  list: (pattern: Pattern) => readonly string[],
): readonly FoundState[] {
  const patterns = stage.deps.map(({ path }) => patternOf(path));
  const listed = patterns.map((pattern) => (pattern.variables.length === 0 ? [] : list(pattern)));
  return entitiesOf(stage, patterns, listed).map((bindings) => ({
    stage,
    bindings,
    entity: stage.variables.map((name) => bindings[name]).join('/') as EntityId,
    inputs: stage.deps.map((dep, i) => inputOf(dep.binding, patterns[i]!, { bindings, listed: listed[i]! })),
    outs: stage.outs.map(({ path }) => expanded(patternOf(path), bindings)),
  }));
}

function entitiesOf(
  stage: Stage,
  patterns: readonly Pattern[],
  listed: readonly (readonly string[])[],
): readonly Bindings[] {
  if (stage.driver === null) return [{}];
  const pattern = patterns[stage.driver]!;
  const byId = new Map<string, Bindings>();
  for (const path of listed[stage.driver]!) {
    const all = matchPattern(pattern, path)!;
    const own = Object.fromEntries(stage.variables.map((name) => [name, all[name]!]));
    byId.set(stage.variables.map((name) => own[name]).join('/'), own);
  }
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bindings]) => bindings);
}

interface Around {
  readonly bindings: Bindings;
  readonly listed: readonly string[];
}

function inputOf(
  binding: Stage['deps'][number]['binding'],
  pattern: Pattern,
  { bindings, listed }: Around,
): StateInput {
  if (binding !== 'collected') {
    const path = expanded(pattern, bindings);
    return { name: path, collected: false, paths: [path] };
  }
  const members = listed.filter((path) => agrees(matchPattern(pattern, path)!, bindings));
  return { name: pattern.text, collected: true, paths: [...members].sort() };
}

function agrees(match: Bindings, bindings: Bindings): boolean {
  return Object.entries(bindings).every(
    ([name, value]) => match[name] === undefined || match[name] === value,
  );
}

/** The loader has refused every path that is no pattern and every out that its entity cannot fill. */
export function patternOf(path: string): Pattern {
  const parsed = parsePattern(path);
  if (!parsed.ok) throw new Error(`not a pattern after loading: ${path}`);
  return parsed.pattern;
}

function expanded(pattern: Pattern, bindings: Bindings): string {
  const path = expandPattern(pattern, bindings);
  if (path === null) throw new Error(`${pattern.text} cannot be filled`);
  return path;
}

export function absolute(root: string, path: string): string {
  return resolve(root, path);
}
