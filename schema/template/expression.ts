// The expression language of templates: paths, literals, comparisons, && || ! and parentheses. No arithmetic, no calls.
//
//   or      = and ('||' and)*
//   and     = compare ('&&' compare)*
//   compare = term (('==' | '!=' | '<' | '<=' | '>' | '>=') term)?
//   term    = '!' term | '(' or ')' | literal | path
//   path    = (name | '$') ('.' key | '[' digits ']' | '[' string ']')*

import { type Span, shown } from '../diagnostic.ts';
import type { TemplateProblem } from './problem.ts';

export type Key = string | number;
export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export interface Path extends Span {
  readonly kind: 'path';
  /** `params`, `deps`, `$`, … */
  readonly root: string;
  readonly keys: readonly Key[];
  readonly source: string;
}

export type Expression =
  | Path
  | ({ readonly kind: 'literal'; readonly value: null | boolean | number | string } & Span)
  | ({ readonly kind: 'not'; readonly operand: Expression } & Span)
  | ({ readonly kind: 'compare'; readonly operator: Comparator } & Sides & Span)
  | ({ readonly kind: 'logic'; readonly operator: '&&' | '||' } & Sides & Span);

interface Sides {
  readonly left: Expression;
  readonly right: Expression;
}

export interface ParsedExpression {
  readonly expression: Expression;
  /** Where reading stopped, as an offset like those of the spans. */
  readonly end: number;
  readonly problem: TemplateProblem | null;
}

/** Bounds every recursion over an expression, so that hostile input cannot exhaust the stack. */
const MAX_TERMS = 200;

const POWER: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
};
const COMPARE = 3;

const OPERATOR = /&&|\|\||==|!=|<=|>=|<|>/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_.])/uy;
const STRING = /'(?:[^'\\]|\\['"\\nt]){0,10000}'|"(?:[^"\\]|\\['"\\nt]){0,10000}"/y;
const NAME = /\$|[\p{L}_][\p{L}\p{N}\p{M}_-]*/uy;
const KEY = /\.([\p{L}\p{N}_][\p{L}\p{N}\p{M}_-]*)/uy;
const INDEX = /\[\s*(\d{1,9})\s*\]/y;
const SPACE = /\s*/y;
const CONSTANTS = new Map<string, null | boolean>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

interface Cursor {
  readonly text: string;
  at: number;
  terms: number;
  problem: TemplateProblem | null;
}

/** Reads one expression of `text` from `start` on; what follows it (a filter, junk) is the caller's to judge. */
export function parseExpression(text: string, start: number): ParsedExpression {
  const cursor: Cursor = { text, at: start, terms: 0, problem: null };
  const expression = parseBinary(cursor, 1);
  return { expression, end: cursor.at, problem: cursor.problem };
}

function parseBinary(cursor: Cursor, minPower: number): Expression {
  let left = parseTerm(cursor);
  let compared = false;
  for (;;) {
    const before = cursor.at;
    const operator = take(cursor, OPERATOR)?.[0];
    const power = operator === undefined ? 0 : POWER[operator]!;
    if (operator === undefined || power < minPower) {
      cursor.at = before;
      return left;
    }
    if (power === COMPARE && compared) {
      return fail(cursor, 'comparisons cannot be chained', 'join two comparisons with &&');
    }
    compared ||= power === COMPARE;
    left = join(operator, left, parseBinary(cursor, power + 1));
  }
}

function join(operator: string, left: Expression, right: Expression): Expression {
  const span = { start: left.start, end: right.end };
  if (operator === '&&' || operator === '||') return { kind: 'logic', operator, left, right, ...span };
  return { kind: 'compare', operator: operator as Comparator, left, right, ...span };
}

function parseTerm(cursor: Cursor): Expression {
  cursor.terms++;
  if (cursor.terms > MAX_TERMS) {
    return fail(
      cursor,
      `an expression has at most ${MAX_TERMS} terms`,
      'split it up, or compute it in a stage',
    );
  }
  take(cursor, SPACE);
  const start = cursor.at;
  if (take(cursor, /!(?!=)/y)) {
    const operand = parseTerm(cursor);
    return { kind: 'not', operand, start, end: operand.end };
  }
  if (take(cursor, /\(/y)) return parseGroup(cursor, start);
  return parseLiteral(cursor, start) ?? parsePath(cursor, start);
}

function parseGroup(cursor: Cursor, start: number): Expression {
  const inner = parseBinary(cursor, 1);
  if (cursor.problem === null && !take(cursor, /\)/y)) {
    return fail(cursor, "'(' is not closed", "add the missing ')'");
  }
  return { ...inner, start, end: cursor.at };
}

function parseLiteral(cursor: Cursor, start: number): Expression | null {
  const number = take(cursor, NUMBER)?.[0];
  if (number !== undefined) return { kind: 'literal', value: Number(number), start, end: cursor.at };
  const string = take(cursor, STRING)?.[0];
  if (string !== undefined) return { kind: 'literal', value: unquote(string), start, end: cursor.at };
  const constant = take(cursor, /(?:true|false|null)(?![\p{L}\p{N}\p{M}_.[-])/uy)?.[0];
  if (constant === undefined) return null;
  return { kind: 'literal', value: CONSTANTS.get(constant)!, start, end: cursor.at };
}

function parsePath(cursor: Cursor, start: number): Expression {
  const root = take(cursor, NAME)?.[0];
  if (root === undefined) return fail(cursor, ...unexpected(cursor));
  const keys: Key[] = [];
  for (let key = parseKey(cursor); key !== null; key = parseKey(cursor)) keys.push(key);
  const end = cursor.at;
  return { kind: 'path', root, keys, source: cursor.text.slice(start, end), start, end };
}

function parseKey(cursor: Cursor): Key | null {
  const name = takeHere(cursor, KEY)?.[1];
  if (name !== undefined) return name;
  const index = takeHere(cursor, INDEX)?.[1];
  if (index !== undefined) return Number(index);
  const before = cursor.at;
  const quoted = takeHere(cursor, /\[/y) && take(cursor, STRING)?.[0];
  if (quoted && take(cursor, /\]/y)) return unquote(quoted);
  cursor.at = before;
  return null;
}

function unexpected(cursor: Cursor): [message: string, hint: string] {
  const rest = cursor.text
    .slice(cursor.at, cursor.at + 20)
    .split('}}')[0]!
    .trim();
  const what = rest === '' ? 'the expression ends too early' : `unexpected '${shown(rest)}'`;
  return [
    what,
    "write a path such as params.x, a number, a quoted string or a comparison; {{ '{{' }} if two braces are meant",
  ];
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/g, (_, c: string) => ({ n: '\n', t: '\t' })[c] ?? c);
}

/** Records the first problem and jumps to the end, so that every caller falls through without checking. */
function fail(cursor: Cursor, message: string, hint: string): Expression {
  const start = Math.min(cursor.at, cursor.text.length);
  cursor.problem ??= { code: 'bad-expression', message, hint, start, end: start };
  cursor.at = cursor.text.length;
  return { kind: 'literal', value: null, start, end: start };
}

function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  if (pattern !== SPACE) takeHere(cursor, SPACE);
  return takeHere(cursor, pattern);
}

function takeHere(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text);
  if (match !== null) cursor.at += match[0].length;
  return match;
}
