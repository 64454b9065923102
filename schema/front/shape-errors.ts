// Turns what the validator found into diagnostics: the place in the text, the fact, the next step.

import type * as z from 'zod';
import { type Diagnostic, nearest, type Report, shown, suggest } from '../diagnostic.ts';
import type { Path, SourceDocument } from '../source-document.ts';
import { type Issue, type Rest, readRest } from './damage.ts';

/** The value in its shape; what does not fit is reported and left out, or null if too little is left. */
export function readShape<S extends z.ZodType>(
  shape: S,
  document: SourceDocument,
  report: Report,
): Rest<z.output<S>> | null {
  const parsed = shape.safeParse(document.value);
  if (parsed.success) return { file: parsed.data, isNews: () => true };
  for (const issue of parsed.error.issues) reportIssue(issue, [], { shape, document, report });
  return readRest(shape, document, parsed.error.issues);
}

interface Context {
  readonly shape: z.ZodType;
  readonly document: SourceDocument;
  readonly report: Report;
}

function reportIssue(issue: Issue, base: Path, context: Context): void {
  const path = [...base, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) context.report(unknownKey(key, path, context));
    return;
  }
  const branch = issue.code === 'invalid_union' ? likelyBranch(issue.errors) : undefined;
  if (branch !== undefined) {
    for (const inner of branch) reportIssue(inner, path, context);
    return;
  }
  const span = context.document.valueSpan(path);
  context.report({ severity: 'error', span, ...describe(issue, path, context) });
}

function unknownKey(key: string, path: Path, { document, shape }: Context): Diagnostic {
  const known = keysAt(shape, path);
  return {
    severity: 'error',
    code: 'unknown-key',
    message: `unknown key '${shown(key)}'${path.length > 0 ? ` in ${showPath(path)}` : ''}`,
    hint: nearest(key, known) === undefined ? `remove it; ${suggest(key, known)}` : suggest(key, known),
    span: document.keySpan([...path, key]),
  };
}

/** Of a union's branches, the one whose own type fits, so that its mistake is reported rather than "no branch fits". */
function likelyBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find((issues) =>
    issues.every(
      ({ path, code }) => path.length > 0 || (code !== 'invalid_type' && code !== 'invalid_value'),
    ),
  );
}

function describe(
  issue: Issue,
  path: Path,
  { document, shape }: Context,
): Pick<Diagnostic, 'code' | 'message' | 'hint'> {
  const place = showPath(path);
  const got = valueAt(document.value, path);
  if (got === undefined) {
    const key = String(path.at(-1));
    return {
      code: 'missing-key',
      message: `'${key}' is missing in ${showPath(path.slice(0, -1))}`,
      hint: `add '${key}:'`,
    };
  }
  switch (issue.code) {
    case 'custom': {
      const params = (issue.params ?? {}) as { code?: string; hint?: string };
      return {
        code: params.code ?? 'bad-value',
        message: `${place}: ${issue.message}`,
        hint: params.hint ?? 'correct the value',
      };
    }
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      return {
        code: 'bad-value',
        message: `${place}: ${showValue(got)} is not one of ${allowed.join(', ')}`,
        hint: suggest(String(got), allowed),
      };
    }
    case 'too_small':
      if (got === '')
        return { code: 'bad-value', message: `${place} is empty`, hint: 'write text here, or remove it' };
      return {
        code: 'bad-value',
        message: `${place}: ${showValue(got)} is too small`,
        hint: `expected ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}${unit(got)}`,
      };
    case 'too_big':
      return {
        code: 'bad-value',
        message: `${place}: ${showValue(got)} is too large`,
        hint: `expected at most ${issue.maximum}${unit(got)}`,
      };
    default: {
      const expected = expectedTypes(issue, schemaAt(shape, path));
      return {
        code: 'wrong-type',
        message: `${place}: expected ${expected}, got ${showValue(got)}`,
        hint: `write ${expected} here`,
      };
    }
  }
}

function unit(value: unknown): string {
  if (typeof value === 'string') return ' characters';
  return Array.isArray(value) ? ' entries' : '';
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  null: 'nothing',
};

function expectedTypes(issue: Issue, schema: z.ZodType | undefined): string {
  if (issue.code === 'invalid_type') return TYPE_NAMES[issue.expected] ?? issue.expected;
  const options = schema === undefined ? undefined : (definition(schema).options as z.ZodType[] | undefined);
  if (options === undefined) return 'another kind of value';
  const names = options.map((option) => {
    const { type, values } = definition(unwrap(option)) as { type: string; values?: unknown[] };
    return values ? values.map((value) => JSON.stringify(value)).join(' or ') : (TYPE_NAMES[type] ?? type);
  });
  return [...new Set(names)].join(' or ');
}

export function showPath(path: Path): string {
  if (path.length === 0) return 'the file';
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${shown(step)}`))
    .join('');
}

function showValue(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return shown(text.length > 60 ? `${text.slice(0, 57)}…"` : text);
}

function valueAt(value: unknown, path: Path): unknown {
  let at: unknown = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

function keysAt(shape: z.ZodType, path: Path): string[] {
  const schema = schemaAt(shape, path);
  return schema === undefined ? [] : Object.keys((definition(schema).shape as object | undefined) ?? {});
}

/** Walks the validator itself along a path, so that no second list of known keys has to be kept. */
function schemaAt(shape: z.ZodType, path: Path): z.ZodType | undefined {
  let at: z.ZodType | undefined = unwrap(shape);
  for (const step of path) {
    at = at && stepInto(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

function stepInto(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  const def = definition(schema);
  const options = def.options as z.ZodType[] | undefined;
  const from = options?.map(unwrap).find((option) => definition(option).type === 'object') ?? schema;
  const { shape, element, valueType } = definition(from) as {
    shape?: Record<string, z.ZodType>;
    element?: z.ZodType;
    valueType?: z.ZodType;
  };
  const next = shape?.[step] ?? element ?? valueType;
  if (next === undefined) return undefined;
  const inner = unwrap(next);
  const union = definition(inner).options as z.ZodType[] | undefined;
  return union?.map(unwrap).find((option) => definition(option).type === 'object') ?? inner;
}

function unwrap(schema: z.ZodType): z.ZodType {
  const inner = definition(schema).innerType as z.ZodType | undefined;
  return inner === undefined ? schema : unwrap(inner);
}

function definition(schema: z.ZodType): Record<string, unknown> {
  return schema._zod.def as unknown as Record<string, unknown>;
}
