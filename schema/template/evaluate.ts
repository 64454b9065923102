// Gives an expression its value in a scope. A name that has no value is a problem that names it, never an empty text.

import { shown, suggest } from '../diagnostic.ts';
import { type Json, unreachable } from '../words.ts';
import { compareValues } from './compare.ts';
import type { Expression, Key, Path } from './expression.ts';
import { bad, good, type Outcome, type TemplateProblem } from './problem.ts';
import type { SingleName } from './references.ts';

/** Paths are kept apart from other text, because a path may need `./` and a list of them becomes several words. */
export type Value =
  | { readonly kind: 'json'; readonly json: Json }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'paths'; readonly paths: readonly string[] };

/** A collected dep has several paths; everything else has one. */
export type OneOrMorePaths = string | readonly string[];

export interface Scope {
  readonly params: Readonly<Record<string, Json>>;
  readonly entity: Readonly<Record<string, string>>;
  readonly deps: readonly OneOrMorePaths[];
  readonly outs: readonly OneOrMorePaths[];
  readonly stages: Readonly<Record<string, { readonly path?: OneOrMorePaths; readonly content?: Json }>>;
  readonly names: { readonly [name in SingleName]?: OneOrMorePaths };
}

/** Deeper data than this is refused, so that neither comparing nor printing it can exhaust the stack. */
const MAX_DEPTH = 200;

export function evaluate(expression: Expression, scope: Scope): Outcome<Value> {
  switch (expression.kind) {
    case 'literal':
      return json(expression.value);
    case 'path':
      return lookUp(expression, scope);
    case 'not': {
      const operand = evaluateBoolean(expression.operand, scope);
      return operand.ok ? json(!operand.value) : operand;
    }
    case 'logic': {
      const left = evaluateBoolean(expression.left, scope);
      if (!left.ok) return left;
      if (left.value === (expression.operator === '||')) return json(left.value);
      const right = evaluateBoolean(expression.right, scope);
      return right.ok ? json(right.value) : right;
    }
    case 'compare': {
      const left = evaluate(expression.left, scope);
      const right = evaluate(expression.right, scope);
      if (!left.ok || !right.ok) return left.ok ? right : left;
      const answer = compareValues(expression.operator, plain(left.value), plain(right.value));
      return answer.ok
        ? json(answer.value)
        : bad({ ...answer.refusal, start: expression.start, end: expression.end });
    }
    default:
      return unreachable(expression);
  }
}

/** A value as JSON: a path is its text, a list of paths a list of texts. */
export function plain(value: Value): Json {
  if (value.kind === 'json') return value.json;
  return value.kind === 'path' ? value.path : value.paths;
}

function evaluateBoolean(expression: Expression, scope: Scope): Outcome<boolean> {
  const outcome = evaluate(expression, scope);
  if (!outcome.ok) return outcome;
  const value = plain(outcome.value);
  if (typeof value === 'boolean') return good(value);
  const { start, end } = expression;
  const hint = "compare it with something, such as params.x != ''";
  return bad({ code: 'not-a-boolean', message: '&&, || and ! take true or false only', hint, start, end });
}

function lookUp(path: Path, scope: Scope): Outcome<Value> {
  const [first, second, ...rest] = path.keys;
  switch (path.root) {
    case 'params':
    case 'config':
      return descend(path, scope.params, path.keys);
    case 'entity':
      return descend(path, scope.entity, path.keys);
    case 'deps':
    case 'outs': {
      const listed = typeof first === 'number' && second === 'path' && rest.length === 0;
      return pathValue(path, listed ? scope[path.root][first] : undefined);
    }
    case '$':
      return lookUpStage(path, scope);
    default:
      return pathValue(path, path.keys.length === 0 ? own(scope.names, path.root) : undefined);
  }
}

function lookUpStage(path: Path, scope: Scope): Outcome<Value> {
  const [name, field, ...keys] = path.keys;
  const stage = typeof name === 'string' ? own(scope.stages, name) : undefined;
  if (stage === undefined) return bad(missing(path, name ?? '', Object.keys(scope.stages)));
  if (field === 'path' && keys.length === 0) return pathValue(path, stage.path);
  if (field !== 'content' || stage.content === undefined)
    return bad(missing(path, field ?? '', Object.keys(stage)));
  return descend(path, stage.content, keys);
}

function pathValue(path: Path, value: OneOrMorePaths | undefined): Outcome<Value> {
  if (value === undefined) return bad(missing(path, path.source, []));
  return good(typeof value === 'string' ? { kind: 'path', path: value } : { kind: 'paths', paths: value });
}

function descend(path: Path, from: Json, keys: readonly Key[]): Outcome<Value> {
  let value = from;
  for (const key of keys) {
    const next = child(value, key);
    if (next === undefined) return bad(missing(path, key, keysOf(value)));
    value = next;
  }
  return isTooDeep(value) ? bad(tooDeep(path)) : json(value);
}

/** Own keys of objects and indexes of lists only: `constructor` and `length` are names like any other. */
function child(value: Json, key: Key): Json | undefined {
  if (isList(value)) return typeof key === 'number' ? value[key] : undefined;
  return value !== null && typeof value === 'object' && typeof key === 'string' ? own(value, key) : undefined;
}

function own<T>(record: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function keysOf(value: Json): readonly string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.keys(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isTooDeep(value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((each) => (each !== null && typeof each === 'object' ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function json(value: Json): Outcome<Value> {
  return good({ kind: 'json', json: value });
}

function missing(path: Path, key: Key, known: readonly string[]): TemplateProblem {
  const name = shown(String(key));
  const at = name === path.source ? '' : `: there is no '${name}'`;
  const hint = known.length === 0 ? 'nothing of that name exists here' : suggest(String(key), known);
  const message = `'${shown(path.source)}' has no value${at}`;
  return { code: 'unknown-reference', message, hint, start: path.start, end: path.end };
}

function tooDeep({ source, start, end }: Path): TemplateProblem {
  const message = `'${shown(source)}' is nested deeper than ${MAX_DEPTH} levels`;
  return { code: 'too-deep', message, hint: 'refer to a field inside it', start, end };
}
