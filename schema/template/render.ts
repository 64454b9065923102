// Fills a template for places that are not a shell: plain text, a typed value, a JSON document.

import type { Json } from '../words.ts';
import { evaluate, plain, type Scope, type Value } from './evaluate.ts';
import type { Placeholder, Template, TextPart } from './parse.ts';
import { bad, good, type Outcome, type TemplateProblem } from './problem.ts';

export interface FilledPlaceholder {
  readonly kind: 'value';
  readonly value: Value;
  readonly placeholder: Placeholder;
}

export type Piece = TextPart | FilledPlaceholder;

/** Texts as they are, numbers, booleans and null by their name, lists and objects as JSON. */
export function renderText(template: Template, scope: Scope): Outcome<string> {
  const pieces = fill(template, scope);
  if (!pieces.ok) return pieces;
  return good(
    pieces.value.map((piece) => (piece.kind === 'text' ? piece.text : textOf(piece.value))).join(''),
  );
}

/** The typed value if the template is one placeholder and nothing else, otherwise its text. */
export function renderValue(template: Template, scope: Scope): Outcome<Json> {
  const pieces = fill(template, scope);
  if (!pieces.ok) return pieces;
  const [only, ...others] = pieces.value;
  return only?.kind === 'value' && others.length === 0
    ? good(plain(only.value))
    : renderText(template, scope);
}

/** Inside a string literal a value is escaped, outside it is encoded: the result parses if the template's shape does. */
export function renderJson(template: Template, scope: Scope): Outcome<string> {
  const pieces = fill(template, scope);
  if (!pieces.ok) return pieces;
  const problems: TemplateProblem[] = [];
  let place: JsonPlace = 'outside';
  let text = '';
  for (const piece of pieces.value) {
    const written = piece.kind === 'text' ? piece.text : jsonOf(piece, place);
    if (piece.kind === 'value' && !piece.placeholder.raw && place === 'escape')
      problems.push(afterBackslash(piece.placeholder));
    if (piece.kind === 'text' || piece.placeholder.raw) place = followJson(place, written);
    text += written;
  }
  return problems.length > 0 ? bad(...problems) : good(text);
}

/** Evaluates every placeholder before anything is written, so that all problems are told at once. */
export function fill(template: Template, scope: Scope): Outcome<readonly Piece[]> {
  const problems = [...template.errors];
  const pieces: Piece[] = [];
  for (const part of template.parts) {
    if (part.kind === 'text') {
      pieces.push(part);
      continue;
    }
    const outcome = evaluate(part.expression, scope);
    if (outcome.ok) pieces.push({ kind: 'value', value: outcome.value, placeholder: part });
    else problems.push(...outcome.problems);
  }
  return problems.length > 0 ? bad(...problems) : good(pieces);
}

export function textOf(value: Value): string {
  const json = plain(value);
  if (typeof json === 'string') return json;
  return json !== null && typeof json === 'object' ? JSON.stringify(json) : String(json);
}

type JsonPlace = 'outside' | 'string' | 'escape';

function jsonOf({ value, placeholder }: FilledPlaceholder, place: JsonPlace): string {
  if (placeholder.raw) return textOf(value);
  return place === 'outside' ? JSON.stringify(plain(value)) : JSON.stringify(textOf(value)).slice(1, -1);
}

function followJson(from: JsonPlace, text: string): JsonPlace {
  let place = from;
  for (const c of text) {
    if (place === 'escape') place = 'string';
    else if (c === '"') place = place === 'outside' ? 'string' : 'outside';
    else if (c === '\\' && place === 'string') place = 'escape';
  }
  return place;
}

function afterBackslash({ source, start, end }: Placeholder): TemplateProblem {
  const message = `${source} stands directly after a backslash in a JSON string`;
  return {
    code: 'after-backslash',
    message,
    hint: 'remove the backslash: values are escaped as needed',
    start,
    end,
  };
}
