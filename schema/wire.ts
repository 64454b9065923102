// What watchers and runners say to the control plane, and what it answers: one validator each, types inferred.

import * as z from 'zod';

export const MAX_OBSERVATIONS = 5_000;
export const MAX_ITEMS = 500;
/** Of one path, as most systems have it. */
const MAX_PATH = 4_096;

const name = z.string().min(1).max(200);
const count = z.int().nonnegative();
const token = z.int().positive();

export const blake3 = z
  .string()
  .regex(/^blake3:[0-9a-f]{64}$/, 'expected blake3: and 64 lower-case hex digits');

/** `/a/b`: no `.` or `..`, no doubled or closing slash, so that one place has one name. */
export const absolutePath = z
  .string()
  .max(MAX_PATH)
  .refine(isCanonical, "expected an absolute path without '.', '..' or doubled slashes");

function isCanonical(path: string): boolean {
  if (path === '/') return true;
  const [first, ...names] = path.split('/');
  return (
    first === '' && names.length > 0 && names.every((each) => each !== '' && each !== '.' && each !== '..')
  );
}

const seen = z.strictObject({ path: absolutePath, hash: blake3, size: count, files: count.optional() });
const gone = z.strictObject({ path: absolutePath, gone: z.literal(true) });
export const observation = z.union([seen, gone]);
export type Observation = z.infer<typeof observation>;

/** How the places stand that a watcher looks at. */
export const watchedRoot = z.strictObject({
  workflow: name,
  /** On the watcher's own machine. */
  root: z.string().max(MAX_PATH),
  /** `polled`: looked at now and then, because nothing tells what happens there. `troubled`: `problem` says why. */
  state: z.enum(['watched', 'polled', 'troubled']),
  problem: z.string().max(1_000).nullable(),
});
export type WatchedRoot = z.infer<typeof watchedRoot>;
export const watcherFacts = z.strictObject({ roots: z.array(watchedRoot).max(1_000) });
export type WatcherFacts = z.infer<typeof watcherFacts>;
/** What is common to all that watchers and runners say of places; runners only of those that they cannot get at. */
export const troubledFacts = z.object({ roots: z.array(watchedRoot) });

export const observeBody = z.strictObject({
  target: name,
  watcher: name,
  facts: watcherFacts.optional(),
  observations: z.array(observation).max(MAX_OBSERVATIONS),
});

export const observeAnswer = z.object({ observed: count, changed: count, discovered: count });

/** A state and the upstream that it needs; when forced, what is made from it too. */
export const oneState = z.strictObject({
  workflow: name,
  stage: z.string(),
  entity: z.string(),
  force: z.boolean().default(false),
});
export type OneState = z.output<typeof oneState>;

export const MAX_AWAY = 1_000;

/** A definition whose files a runner cannot get at for now. */
export const awayRoot = z.strictObject({
  definition: blake3,
  workflow: name,
  /** On the runner's own machine. */
  root: z.string().max(MAX_PATH),
  problem: z.string().max(1_000),
});
export type AwayRoot = z.infer<typeof awayRoot>;

export const claimBody = z.strictObject({
  runner: name,
  targets: z.array(name).min(1).max(20),
  limit: z.int().min(1).max(MAX_ITEMS).default(1),
  lease_seconds: z.number().min(1).max(3_600).default(60),
  /** What the runner has free; a stage that asks for more is not offered. */
  free: z
    .strictObject({
      cores: z.number().nonnegative().default(1),
      memory_bytes: count.nullable().default(null),
      gpu: count.default(0),
      pools: z.record(z.string(), count).default({}),
    })
    .default({ cores: 1, memory_bytes: null, gpu: 0, pools: {} }),
  labels: z.record(z.string(), z.string()).default({}),
  workflow: name.optional(),
  /** Only of these: a runner may know fewer workflows than the control plane. */
  workflows: z.array(name).optional(),
  /** Only these: a runner may have been told exactly what it is to run. */
  definitions: z.array(blake3).max(1_000).optional(),
  stages: z.array(z.string()).optional(),
  only: oneState.optional(),
  /** None of these: their files are not there now, of which the runner says why. */
  away: z.array(awayRoot).max(MAX_AWAY).default([]),
  run: name.optional(),
  /** How long the answer may be held back while there is nothing to do. */
  wait_seconds: z.number().min(0).max(25).default(0),
});
export type ClaimBody = z.output<typeof claimBody>;

const record = z.object({
  cache_key: blake3,
  recipe: blake3.nullable(),
  deps: z.array(z.unknown()),
  outs: z.array(z.unknown()),
  skipped: z.boolean(),
});

export const claimed = z.object({
  token,
  kind: z.enum(['make', 'clean']),
  workflow: z.string(),
  definition: blake3,
  root: z.string(),
  stage: z.string(),
  entity: z.string(),
  target: z.string(),
  /** How many times it failed with the key of the last failure. */
  failures: count,
  failed_key: blake3.nullable(),
  reasons: z.array(z.unknown()),
  records: z.array(record),
  made_here: z.boolean(),
});
export type Claimed = z.infer<typeof claimed>;
export const claimAnswer = z.object({ lease_seconds: z.number(), items: z.array(claimed) });

const pathHash = z.strictObject({ path: z.string().max(MAX_PATH), hash: blake3 });

const out = z.strictObject({
  path: absolutePath,
  hash: blake3,
  size: count,
  files: count.optional(),
});

export const completeItem = z.strictObject({
  token,
  outcome: z.enum(['made', 'verified', 'skipped', 'cleaned']).default('made'),
  cache_key: blake3.optional(),
  /** The shared part of the preimage; its body once, then by hash. */
  recipe: blake3.optional(),
  recipe_body: z.json().optional(),
  /** The rest of the preimage: paths as written, in file order. */
  deps: z.array(pathHash).max(2_000).default([]),
  /** What was read, at absolute paths, as it was just before and just after. */
  consumed: z
    .array(z.strictObject({ path: absolutePath, hash: blake3 }))
    .max(2_000)
    .default([]),
  outs: z.array(out).max(2_000).default([]),
  /** It also made outs on other targets: what they are is said by who looks there. */
  elsewhere: z.boolean().optional(),
  content_hash: blake3.optional(),
  reasons: z.array(z.json()).max(100).optional(),
  seconds: z.number().nonnegative().optional(),
});
export type CompleteItem = z.output<typeof completeItem>;

const runner = { runner: name };
export const completeBody = z.strictObject({ ...runner, items: z.array(completeItem).min(1).max(MAX_ITEMS) });

/** `stale`: kept, but an input changed meanwhile. `lost`: the lease had gone to another, nothing was changed. */
export const itemResult = z.enum([
  'fresh',
  'stale',
  'skipped',
  'cleaned',
  'lost',
  'retry',
  'exhausted',
  'released',
]);
export type ItemResult = z.infer<typeof itemResult>;
export const itemsAnswer = z.object({
  results: z.array(z.object({ token, result: itemResult, retry_at: z.int().nullable().optional() })),
});

const outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('exit'), code: z.int() }),
  z.strictObject({ kind: z.literal('signal'), signal: z.string().max(20) }),
  z.strictObject({ kind: z.literal('timeout') }),
  z.strictObject({ kind: z.literal('error') }),
]);

export const failItem = z.strictObject({
  token,
  outcome,
  error: z.string().max(10_000),
  log_tail: z.string().max(20_000).optional(),
  cache_key: blake3.optional(),
  reasons: z.array(z.json()).max(100).optional(),
  seconds: z.number().nonnegative().optional(),
});
export type FailItem = z.output<typeof failItem>;
export const failBody = z.strictObject({ ...runner, items: z.array(failItem).min(1).max(MAX_ITEMS) });

export const restartBody = z.strictObject({
  ...runner,
  /** What it goes on with; of anything else it never heard that it got it. */
  holding: z.array(token).max(5_000).default([]),
});
export type RestartBody = z.output<typeof restartBody>;

export const tokensBody = z.strictObject({
  ...runner,
  tokens: z.array(token).min(1).max(MAX_ITEMS),
  lease_seconds: z.number().min(1).max(3_600).default(60),
});
