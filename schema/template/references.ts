// Which names a template uses, and whether they exist: for the loader, before anything has a value.

import { shown, suggest } from '../diagnostic.ts';
import { unreachable } from '../words.ts';
import type { Expression, Path } from './expression.ts';
import type { Template } from './parse.ts';
import type { TemplateProblem } from './problem.ts';

/** The names that stand alone, with no keys after them. */
export const SINGLE_NAMES = [
  'input',
  'inputs',
  'input_list',
  'output',
  'input_stem',
  'input_dir',
  'root',
] as const;
export type SingleName = (typeof SINGLE_NAMES)[number];

/** What exists where a template stands. */
export interface Known {
  readonly params: readonly string[];
  /** How many deps and outs the stage lists. */
  readonly deps: number;
  readonly outs: number;
  /** The stage's variables. */
  readonly entity: readonly string[];
  readonly stages: readonly string[];
  /** Whether `config.x` may be written for `params.x`. */
  readonly config: boolean;
  readonly names: readonly SingleName[];
}

export interface StageReference {
  readonly stage: string;
  readonly field: 'path' | 'content';
  readonly path: Path;
}

/** Every path a template uses, in the order written; offsets point into the template. */
export function references(template: Template): readonly Path[] {
  return template.parts.flatMap((part) => (part.kind === 'text' ? [] : pathsOf(part.expression)));
}

/** The params (a job's config keys) a template uses: those that enter `params_hash`. */
export function referencedParams(template: Template): readonly string[] {
  const used = references(template).filter(({ root }) => root === 'params' || root === 'config');
  return [...new Set(used.flatMap(({ keys }) => (typeof keys[0] === 'string' ? [keys[0]] : [])))];
}

/** The `$.stage.path` and `$.stage.content…` references: implicit deps. */
export function referencedStages(template: Template): readonly StageReference[] {
  return references(template).flatMap((path) => {
    const [stage, field] = path.keys;
    if (path.root !== '$' || typeof stage !== 'string') return [];
    return field === 'path' || field === 'content' ? [{ stage, field, path }] : [];
  });
}

export function checkReferences(template: Template, known: Known): readonly TemplateProblem[] {
  return references(template).flatMap((path) => checkPath(path, known) ?? []);
}

function pathsOf(expression: Expression): readonly Path[] {
  switch (expression.kind) {
    case 'path':
      return [expression];
    case 'literal':
      return [];
    case 'not':
      return pathsOf(expression.operand);
    case 'compare':
    case 'logic':
      return [...pathsOf(expression.left), ...pathsOf(expression.right)];
    default:
      return unreachable(expression);
  }
}

function checkPath(path: Path, known: Known): TemplateProblem | null {
  switch (path.root) {
    case 'params':
      return checkNamed(path, 'param', known.params);
    case 'config':
      return known.config ? checkNamed(path, 'config key', known.params) : checkSingle(path, known);
    case 'entity':
      return path.keys.length > 1 ? shape(path, 'entity.NAME') : checkNamed(path, 'variable', known.entity);
    case 'deps':
      return checkListed(path, known.deps);
    case 'outs':
      return checkListed(path, known.outs);
    case '$':
      return checkStage(path, known.stages);
    default:
      return checkSingle(path, known);
  }
}

function checkNamed(path: Path, what: string, names: readonly string[]): TemplateProblem | null {
  const name = path.keys[0];
  if (typeof name !== 'string') return shape(path, `${path.root}.NAME`);
  if (names.includes(name)) return null;
  return problem(
    path,
    `unknown-${what.replace(' ', '-')}`,
    `unknown ${what} '${shown(name)}'`,
    suggest(name, names),
  );
}

function checkListed(path: Path, count: number): TemplateProblem | null {
  const [index, field] = path.keys;
  if (typeof index !== 'number' || field !== 'path' || path.keys.length !== 2) {
    return shape(path, `${path.root}[0].path`);
  }
  if (index < count) return null;
  const hint =
    count === 0 ? `list it under '${path.root}' first` : `the last one is ${path.root}[${count - 1}].path`;
  return problem(
    path,
    `unknown-${path.root.slice(0, -1)}`,
    `there is no ${path.root}[${index}], only ${count} ${path.root}`,
    hint,
  );
}

function checkStage(path: Path, stages: readonly string[]): TemplateProblem | null {
  const [stage, field] = path.keys;
  if (typeof stage !== 'string') return shape(path, '$.STAGE.path');
  if (!stages.includes(stage)) {
    return problem(path, 'unknown-stage', `unknown stage '${shown(stage)}'`, suggest(stage, stages));
  }
  const known = field === 'content' || (field === 'path' && path.keys.length === 2);
  return known ? null : shape(path, `$.${shown(stage)}.path or $.${shown(stage)}.content.FIELD`);
}

function checkSingle(path: Path, known: Known): TemplateProblem | null {
  const name = path.root;
  if (known.names.some((each) => each === name)) {
    return path.keys.length === 0 ? null : shape(path, name);
  }
  if (SINGLE_NAMES.some((each) => each === name)) {
    return problem(path, 'unknown-name', `'${name}' has no value`, `known: ${rootsOf(known).join(', ')}`);
  }
  return problem(path, 'unknown-name', `unknown name '${shown(name)}'`, otherHome(name, known));
}

/** A bare name that exists under `params` or `entity` was most likely meant so. */
function otherHome(name: string, known: Known): string {
  if (known.entity.includes(name)) return `did you mean '{${name}}' or 'entity.${name}'?`;
  if (known.params.includes(name)) return `did you mean 'params.${name}'?`;
  return suggest(name, rootsOf(known));
}

function rootsOf(known: Known): readonly string[] {
  return [...known.names, 'params', ...(known.config ? ['config'] : []), 'deps', 'outs', 'entity', '$'];
}

function shape(path: Path, form: string): TemplateProblem {
  return problem(path, 'bad-reference', `'${shown(path.source)}' cannot be read`, `write it as ${form}`);
}

function problem(path: Path, code: string, message: string, hint: string): TemplateProblem {
  return { code, message, hint, start: path.start, end: path.end };
}
