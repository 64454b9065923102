// The files of one state: what it reads and makes, at absolute places, and under the names that enter its key.

import { relative, resolve } from 'node:path';
import { fanOutOutput } from '../schema/discovery/fan-out.ts';
import { pathId, placePattern, rootOn } from '../schema/discovery/place.ts';
import { bindingsOf } from '../schema/discovery/registry.ts';
import { type Bindings, expandPattern, matchPattern, type Pattern, parsePattern } from '../schema/pattern.ts';
import type { EntityId, TargetName } from '../schema/words.ts';
import type { Stage, Workflow } from '../schema/workflow.ts';

export interface StateFiles {
  readonly stage: Stage;
  readonly entity: EntityId;
  readonly bindings: Bindings;
  readonly inputs: readonly StateInput[];
  readonly outs: readonly StateOut[];
}

export interface StateInput {
  /** As it enters the key: the path of this entity, or the pattern of a collected dep. */
  readonly name: string;
  readonly collected: boolean;
  /** Absolute; one, or every member of a collected dep in order. */
  readonly paths: readonly string[];
}

export interface StateOut {
  readonly name: string;
  readonly path: string;
  readonly directory: boolean;
  /** The machine it is put on, if that is another: then it is neither prepared nor hashed here. */
  readonly remote: TargetName | null;
}

export interface FilesContext {
  readonly workflow: Workflow;
  /** The workflow's directory on this machine. */
  readonly root: string;
  /** Absolute paths on disk that match an absolute pattern. */
  readonly list: (pattern: Pattern) => readonly string[];
}

export function stateFiles(stage: Stage, entity: EntityId, context: FilesContext): StateFiles {
  const relativeInput = stage.fanOut === null ? null : entity;
  const bindings = relativeInput === null ? bindingsOf(stage, entity) : {};
  const root = rootOn(context, stage.target);
  const inputs = stage.deps.map((dep, i): StateInput => {
    const pattern = patternOf(dep.path);
    if (relativeInput !== null && i === 0) {
      const name = `${filled(pattern, bindings)}${relativeInput}`;
      return { name, collected: false, paths: [resolve(root, name)] };
    }
    if (dep.binding !== 'collected') {
      const name = filled(pattern, bindings);
      return { name, collected: false, paths: [pathId(resolve(root, name))] };
    }
    return {
      name: pattern.text,
      collected: true,
      paths: members(placePattern(pattern, root), bindings, context),
    };
  });
  const outs = stage.outs.map(({ path, remote }, i): StateOut => {
    const pattern = patternOf(path);
    const whole = filled(pattern, bindings);
    const isFanned = relativeInput !== null && i === 0;
    const name = isFanned ? `${whole}${fanOutOutput(stage, relativeInput)}` : whole;
    const directory = pattern.directory && !isFanned;
    return { name, path: pathId(resolve(rootOn(context, remote ?? stage.target), name)), directory, remote };
  });
  return { stage, entity, bindings, inputs, outs };
}

/** A member as it is named beside its siblings: relative to the workflow's directory if the pattern is. */
export function memberName(pattern: string, path: string, root: string): string {
  return pattern.startsWith('/') ? path : relative(root, path);
}

function members(pattern: Pattern, bindings: Bindings, { list }: FilesContext): readonly string[] {
  const agreeing = list(pattern).filter((path) => {
    const match = matchPattern(pattern, path);
    return (
      match !== null && Object.entries(bindings).every(([name, value]) => (match[name] ?? value) === value)
    );
  });
  return agreeing.sort();
}

/** The loader has refused every path that is no pattern and every out that its entity cannot fill. */
function patternOf(path: string): Pattern {
  const parsed = parsePattern(path);
  if (!parsed.ok) throw new Error(`not a pattern after loading: ${path}`);
  return parsed.pattern;
}

function filled(pattern: Pattern, bindings: Bindings): string {
  const path = expandPattern(pattern, bindings);
  if (path === null) throw new Error(`${pattern.text} cannot be filled`);
  return path;
}
