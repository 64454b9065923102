// State patterns: paths with `{variables}`, matched within one segment, and expanded back to the same bytes.

import { shown } from './diagnostic.ts';

export type PatternPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string };

export type Segment = readonly PatternPart[];

export interface Pattern {
  /** Normalised: no `.`, no empty segment, `..` only at the front; a directory ends in `/`. */
  readonly text: string;
  readonly absolute: boolean;
  readonly directory: boolean;
  readonly segments: readonly Segment[];
  /** In order of first appearance. */
  readonly variables: readonly string[];
}

export type Bindings = Readonly<Record<string, string>>;

export type PatternResult =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint: string };

export function parsePattern(written: string): PatternResult {
  if (written === '') return refuse('empty-path', 'the path is empty', 'write a path such as data/in.txt');
  if (written.includes('\0'))
    return refuse('bad-path', 'the path contains a NUL character', 'remove the NUL character');
  const { text, absolute, directory, names } = normalise(written);
  const segments: Segment[] = [];
  for (const name of names) {
    const parsed = parseSegment(name);
    if (!parsed.ok) return parsed;
    segments.push(parsed.segment);
  }
  const variables = [...new Set(segments.flatMap(variablesIn))];
  if (variables.length > 0 && names[0] === '..') {
    return refuse(
      'pattern-climbs',
      `the pattern '${shown(written)}' leaves the workflow's directory`,
      'keep patterns with variables below the directory of the workflow file, or write an absolute pattern',
    );
  }
  return { ok: true, pattern: { text, absolute, directory, segments, variables } };
}

/** The values of a pattern's variables in a path, or null if the path is not one of its paths. */
export function matchPattern(pattern: Pattern, path: string): Bindings | null {
  const { absolute, names } = split(path);
  if (absolute !== pattern.absolute || names.length !== pattern.segments.length) return null;
  const bindings: Record<string, string> = Object.create(null);
  for (const [i, segment] of pattern.segments.entries()) {
    if (!matchSegment(segment, names[i]!, bindings)) return null;
  }
  return bindings;
}

/** The path for these values; null if a value could not have been matched, so that no name escapes its place. */
export function expandPattern(pattern: Pattern, bindings: Bindings): string | null {
  const names: string[] = [];
  for (const segment of pattern.segments) {
    let name = '';
    for (const part of segment) {
      const text = part.kind === 'literal' ? part.text : bindings[part.name];
      if (text === undefined || (part.kind === 'variable' && !isValue(text))) return null;
      name += text;
    }
    names.push(name);
  }
  return (pattern.absolute ? '/' : '') + names.join('/') + (pattern.directory ? '/' : '');
}

/** Lexical: `a/./b//c/../d` becomes `a/b/d`; a path above the start keeps its leading `..`. */
export function normalisePath(written: string): string {
  return normalise(written).text;
}

/** A value that a variable may take: one segment's worth of name, and not a step up or down the tree. */
export function isValue(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !text.includes('/') && !text.includes('\0');
}

function normalise(written: string) {
  const absolute = written.startsWith('/');
  const names: string[] = [];
  for (const name of written.split('/')) {
    if (name === '' || name === '.') continue;
    const last = names.at(-1);
    if (name !== '..') names.push(name);
    else if (last !== undefined && last !== '..') names.pop();
    else if (!absolute) names.push(name);
  }
  const directory = /(^|\/)\.{0,2}$/.test(written);
  const body = names.join('/');
  const text =
    (absolute ? '/' : '') + (body === '' && !absolute ? '.' : body) + (directory && body !== '' ? '/' : '');
  return { text, absolute, directory, names };
}

function split(path: string): { absolute: boolean; names: readonly string[] } {
  const names = path.split('/');
  const absolute = names[0] === '' && names.length > 1;
  if (absolute) names.shift();
  if (names.at(-1) === '') names.pop();
  return { absolute, names };
}

type SegmentResult = { readonly ok: true; readonly segment: Segment } | Extract<PatternResult, { ok: false }>;

const BRACES = /\{\{.*?\}\}|\{([^{}]*)\}|[{}]/g;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

function parseSegment(name: string): SegmentResult {
  const parts: PatternPart[] = [];
  let from = 0;
  for (const found of name.matchAll(BRACES)) {
    // `{{…}}` belongs to templates; whoever renders them does so before a pattern is parsed.
    if (found[0].startsWith('{{')) continue;
    const variable = found[1];
    if (variable === undefined || !VARIABLE_NAME.test(variable)) return refuseBraces(found[0]);
    if (found.index > from) parts.push({ kind: 'literal', text: name.slice(from, found.index) });
    parts.push({ kind: 'variable', name: variable });
    from = found.index + found[0].length;
  }
  if (from < name.length) parts.push({ kind: 'literal', text: name.slice(from) });
  return checkSegment(name, parts);
}

function checkSegment(name: string, parts: Segment): SegmentResult {
  const variables = variablesIn(parts);
  if (parts.some((part, i) => part.kind === 'variable' && parts[i + 1]?.kind === 'variable')) {
    return refuse(
      'adjacent-variables',
      `two variables stand side by side in '${shown(name)}', so nothing says where one ends`,
      'put a separator between them, such as {date}-{lang}',
    );
  }
  if (new Set(variables).size < variables.length) {
    return refuse(
      'repeated-variable',
      `a variable stands twice in '${shown(name)}'`,
      'use each variable once per path segment',
    );
  }
  if (parts.some((part) => part.kind === 'literal' && part.text.includes('*'))) {
    return refuse(
      'glob-in-path',
      `'*' in '${shown(name)}' is not a pattern here`,
      'name what varies, as in {name}.txt, or use parallel with a glob',
    );
  }
  return { ok: true, segment: parts };
}

function refuse(code: string, message: string, hint: string): Extract<PatternResult, { ok: false }> {
  return { ok: false, code, message, hint };
}

function refuseBraces(found: string) {
  return refuse(
    'bad-variable',
    `'${shown(found)}' is not a variable`,
    'a variable is a name in single braces, such as {sample}',
  );
}

function variablesIn(segment: Segment): string[] {
  return segment.flatMap((part) => (part.kind === 'variable' ? [part.name] : []));
}

/**
 * Matches from the right, each literal as late as possible, so that the first variable of a segment takes
 * the most: `{date}-{lang}` reads 2026-01-15-en as 2026-01-15 and en. Linear, where a regular expression
 * with five variables can take minutes on a name of 255 dashes. Variables bound before count as literals.
 */
function matchSegment(segment: Segment, name: string, bindings: Record<string, string>): boolean {
  const parts = mergeBound(segment, bindings);
  let end = name.length;
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i]!;
    if (part.kind === 'literal') {
      if (!name.endsWith(part.text, end) || (i === 0 && end !== part.text.length)) return false;
      end -= part.text.length;
      continue;
    }
    const before = i === 0 ? null : (parts[i - 1] as { text: string }).text;
    const start = before === null ? 0 : latestStart(name, end, before, i === 1);
    const value = name.slice(start, end);
    if (start < 0 || start >= end || !isValue(value)) return false;
    bindings[part.name] = value;
    end = start;
  }
  return end === 0;
}

/** Where a variable that ends at `end` begins: right after the last place the literal before it can stand. */
function latestStart(name: string, end: number, before: string, anchored: boolean): number {
  if (anchored) return name.startsWith(before) ? before.length : -1;
  const at = name.lastIndexOf(before, end - 1 - before.length);
  return at < 0 || end - 1 - before.length < 0 ? -1 : at + before.length;
}

function mergeBound(segment: Segment, bindings: Bindings): Segment {
  if (!segment.some((part) => part.kind === 'variable' && bindings[part.name] !== undefined)) return segment;
  const merged: PatternPart[] = [];
  for (const part of segment) {
    const bound = part.kind === 'literal' ? part.text : bindings[part.name];
    const last = merged.at(-1);
    if (bound === undefined) merged.push(part);
    else if (last?.kind === 'literal')
      merged[merged.length - 1] = { kind: 'literal', text: last.text + bound };
    else merged.push({ kind: 'literal', text: bound });
  }
  return merged;
}
