// What can still be read of a file that does not fit its shape, and which further complaints are worth telling:
// one look at a file should show everything that is wrong with it, but nothing that only follows from a slip.

import type * as z from 'zod';
import type { Diagnostic, Span } from '../diagnostic.ts';
import type { SourceDocument } from '../source-document.ts';

export type Issue = z.core.$ZodIssue;

export interface Rest<T> {
  readonly file: T;
  /** False for what may only follow from a mistake that was told already. */
  readonly isNews: (diagnostic: Diagnostic) => boolean;
}

/** The file without the keys that do not fit, or null if too little of it is left to go on. */
export function readRest<S extends z.ZodType>(
  shape: S,
  document: SourceDocument,
  issues: readonly Issue[],
): Rest<z.output<S>> | null {
  const value = structuredClone(document.value);
  let broken = issues;
  // Once more for what had to wait for other checks, and once more for what a left-out key was needed for.
  for (let round = 0; round < 3; round++) {
    for (const issue of broken) leaveOut(value, issue);
    const parsed = shape.safeParse(value);
    if (parsed.success) return { file: parsed.data, isNews: newsOf(document, issues) };
    broken = parsed.error.issues;
  }
  return null;
}

/** Whole keys of a stage or of the file: half a list would put everything after the gap in the wrong place. */
function leaveOut(value: unknown, { path, ...issue }: Issue): void {
  const depth = isStagePath(path) ? 2 : 0;
  const owner = at(value, path.slice(0, depth));
  if (path.length > depth) remove(owner, path[depth]!);
  else if (issue.code === 'unrecognized_keys') for (const key of issue.keys) remove(owner, key);
  else if (depth > 0) blank(at(value, path.slice(0, 1)), path[1]!);
}

/** A stage that is not even a map; its name stays known to the others. Only a playbook's may say nothing. */
function blank(stages: unknown, id: PropertyKey): void {
  if (isMap(stages) && !Array.isArray(stages)) stages[id] = {};
}

const NO_PROGRAM = '?';

function remove(owner: unknown, key: PropertyKey): void {
  if (!isMap(owner)) return;
  // The one key that a task cannot be without.
  if (key === 'program') owner[key] = NO_PROGRAM;
  else delete owner[key];
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((inside, step) => (isMap(inside) ? inside[step] : undefined), value);
}

function isMap(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

function isStagePath(path: readonly PropertyKey[]): boolean {
  return (path[0] === 'stages' || path[0] === 'tasks') && path.length > 1;
}

/** A stage without its deps or outs can be wrong in these ways only because they were left out. */
const FOLLOWS_IN_STAGE = new Set([
  'unknown-dep',
  'unknown-out',
  'unknown-name',
  'unknown-variable',
  'unbound-variable',
  'uneven-outs',
  'entity-product',
  'bad-parallel',
  'no-action',
]);

/** The same of a file without its params or targets, in any stage. */
const FOLLOWS_IN_FILE = new Set(['unknown-param', 'unknown-config-key', 'unknown-target', 'unknown-secret']);

function newsOf({ keySpan, valueSpan }: SourceDocument, issues: readonly Issue[]): Rest<unknown>['isNews'] {
  const paths = issues.map(({ path }) => path as (string | number)[]);
  const stages = new Map(paths.filter(isStagePath).map((path) => [String(path[1]), path.slice(0, 2)]));
  const spans: Span[] = [...stages.values()].map((path) => ({
    start: keySpan(path).start,
    end: valueSpan(path).end,
  }));
  const isFileHurt = !paths.every(isStagePath);
  return ({ code, span }) => {
    // The stage referred to may have lost its outs.
    if (code === 'no-output' || (isFileHurt && FOLLOWS_IN_FILE.has(code))) return false;
    if (!FOLLOWS_IN_STAGE.has(code)) return true;
    return !spans.some(({ start, end }) => start <= span.start && span.start < end);
  };
}
