// How two values compare. Deterministic on every machine: no locale, and only one coercion.
//
// Numbers compare as numbers and texts by code point (so '10' < '9'). A text that is exactly a JSON number,
// compared with a number, counts as that number: an entity's `chapter` is text, yet `entity.chapter >= 10` works.
// == and != take anything: different kinds are unequal, lists and objects are compared deeply.
// < <= > >= take two numbers or two texts; anything else is refused rather than guessed.

import type { Json } from '../words.ts';
import type { Comparator } from './expression.ts';

export type Comparison =
  | { readonly ok: true; readonly value: boolean }
  | {
      readonly ok: false;
      readonly refusal: { readonly code: string; readonly message: string; readonly hint: string };
    };

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function compareValues(operator: Comparator, left: Json, right: Json): Comparison {
  const [a, b] = [asNumberBeside(left, right), asNumberBeside(right, left)];
  if (operator === '==') return { ok: true, value: isEqual(a, b) };
  if (operator === '!=') return { ok: true, value: !isEqual(a, b) };
  const order = orderOf(a, b);
  return order === null ? refuse(operator, a, b) : { ok: true, value: holds(operator, order) };
}

function asNumberBeside(value: Json, other: Json): Json {
  const counts = typeof value === 'string' && typeof other === 'number' && JSON_NUMBER.test(value);
  return counts ? Number(value) : value;
}

function isEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [inA, inB] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  if (inA.size !== inB.size) return false;
  return [...inA].every(([key, value]) => inB.has(key) && isEqual(value, inB.get(key)!));
}

function orderOf(a: Json, b: Json): number | null {
  if (Number.isNaN(a) || Number.isNaN(b)) return null;
  if (typeof a === 'number' && typeof b === 'number') return Number(a > b) - Number(a < b);
  return typeof a === 'string' && typeof b === 'string' ? compareCodePoints(a, b) : null;
}

function holds(operator: '<' | '<=' | '>' | '>=', order: number): boolean {
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

/** Not `<` of strings: UTF-16 order differs from code-point order where surrogates meet U+E000 and above. */
function compareCodePoints(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

function refuse(operator: string, a: Json, b: Json): Comparison {
  const message = `'${operator}' cannot order ${nameOf(a)} and ${nameOf(b)}`;
  const hint = 'compare two numbers or two texts, or use == or !=';
  return { ok: false, refusal: { code: 'not-comparable', message, hint } };
}

function nameOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return (
    { string: 'a text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'an object'
  );
}
