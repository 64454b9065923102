// What a lock file holds: the shapes that every reading is checked against, and the types that follow from them.
//
// Names of stages, entities and params come from files and people, so they are keys of a Map, never of an
// object: `__proto__` and `2024` are names like any other. Both readers may hand over a Map or a plain
// object where a shape stands, so each shape first makes the one it needs.

import * as z from 'zod';
import { type Blake3, isBlake3, type Json } from '../words.ts';

/** Deeper values than this are refused, so that nothing recursive can run out of stack. */
const DEEPEST = 64;

const hash = z.custom<Blake3>((value) => typeof value === 'string' && isBlake3(value), {
  error: 'expected blake3: and 64 hex digits',
});
const count = z.int().nonnegative();
const time = z.iso.datetime({ offset: true });
const json = z.unknown().transform((value, context): Json => {
  const found = toJson(value, DEEPEST);
  if (found !== undefined) return found;
  context.issues.push({ code: 'custom', input: value, message: 'expected a plain value, not too deep' });
  return z.NEVER;
});

const depLock = object({
  path: z.string(),
  hash,
  file_count: count.optional(),
  total_bytes: count.optional(),
});
const outLock = object({
  path: z.string(),
  hash,
  file_count: count.optional(),
  total_bytes: count.optional(),
  remote: z.string().optional(),
});
const codeLock = object({ path: z.string(), hash });
/** A secret is there only as a digest, marked so that it cannot be taken for a value. */
const paramLock = z.union([object({ value: json }), object({ secret: hash })]);

/** What all states of a stage were made with. */
const recipeFields = {
  target: z.string(),
  params_hash: hash,
  params: map(paramLock).default(() => new Map()),
  cmd_hash: hash,
  code: z.array(codeLock).default(() => []),
};

const stateFields = {
  status: z.enum(['completed', 'skipped']),
  started_at: time.optional(),
  completed_at: time.optional(),
  duration_seconds: z.number().nonnegative().optional(),
  deps: z.array(depLock),
  outs: z.array(outLock),
  deps_hash: hash,
  cache_key: hash,
  retries: count.optional(),
};

/** `recipe` stands only where it is not the stage's: a state last made before the stage was changed. */
const stateLock = object({ ...stateFields, recipe: object(recipeFields).optional() });
const stageOfOne = object({ ...recipeFields, ...stateFields });
const stageOfMany = object({ ...recipeFields, entities: map(stateLock) });

const stageLock = z.unknown().transform((value, context): StageLock => {
  const raw = toObject(value);
  const isOfMany = typeof raw === 'object' && raw !== null && Object.hasOwn(raw, 'entities');
  const parsed = isOfMany ? stageOfMany.safeParse(raw) : stageOfOne.safeParse(raw);
  if (parsed.success) return 'entities' in parsed.data ? parsed.data : asOnlyEntity(parsed.data);
  const issue = nameIssue(parsed.error.issues[0]!);
  context.issues.push({ code: 'custom', path: [...issue.path], message: issue.message, input: value });
  return z.NEVER;
});

export const lockFileShape = object({
  schema: z.string(),
  playbook: z.string(),
  generated_at: time.optional(),
  generator: z.string(),
  blake3_version: z.string(),
  params_hash: hash,
  stages: map(stageLock),
});

export type LockedDep = Readonly<z.infer<typeof depLock>>;
export type LockedOut = Readonly<z.infer<typeof outLock>>;
export type LockedParam = { readonly value: Json } | { readonly secret: Blake3 };
export type Recipe = Readonly<z.infer<z.ZodObject<typeof recipeFields>>>;
export type StateLock = Readonly<z.infer<typeof stateLock>>;
/** By entity id; a stage without variables has one entity, whose id is empty. */
export type StageLock = Recipe & { readonly entities: ReadonlyMap<string, StateLock> };
export type LockFile = Readonly<z.infer<typeof lockFileShape>>;

/** Zod reports an unknown field at its parent; its own place is where a person has to look. */
export function nameIssue(issue: z.core.$ZodIssue): { path: readonly PropertyKey[]; message: string } {
  if (issue.code !== 'unrecognized_keys') return issue;
  return { path: [...issue.path, issue.keys[0]!], message: 'a lock file has no such field' };
}

function asOnlyEntity(stage: z.infer<typeof stageOfOne>): StageLock {
  const { target, params_hash, params, cmd_hash, code, ...state } = stage;
  return { target, params_hash, params, cmd_hash, code, entities: new Map([['', state]]) };
}

function object<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.preprocess(toObject, z.strictObject(fields));
}

function map<Value extends z.ZodType>(value: Value) {
  return z.preprocess(toMap, z.map(z.string(), value));
}

function toObject(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}

function toMap(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && !(value instanceof Map) ? new Map(Object.entries(value)) : value;
}

function toJson(value: unknown, depth: number): Json | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'object' || depth === 0) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => toJson(item, depth - 1));
    return items.includes(undefined) ? undefined : (items as Json[]);
  }
  const entries = [...(toMap(value) as Map<unknown, unknown>)];
  const fields = entries.map(([key, item]) => [String(key), toJson(item, depth - 1)] as const);
  // `fromEntries` defines its properties, so a key named `__proto__` stays a key.
  return fields.some(([, item]) => item === undefined)
    ? undefined
    : (Object.fromEntries(fields) as { [key: string]: Json });
}
