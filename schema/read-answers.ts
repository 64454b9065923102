// What the control plane answers to those who only look: one schema each, types inferred.

import * as z from 'zod';
import { COUNTED_WORDS, PIPELINE_WORDS, STATE_WORDS, STORED_WORDS } from './status-words.ts';
import { blake3 } from './wire.ts';

const count = z.int().nonnegative();
const time = z.iso.datetime();
const storedWord = z.enum(STORED_WORDS);

const counts = z.object({
  stale: count,
  failed: count,
  processing: count,
  fresh: count,
  edited: count,
  skipped: count,
  orphan: count,
  /** Part of `stale`: an input is not there or not settled. */
  waiting: count,
  /** Part of `failed`: not tried again by itself. */
  exhausted: count,
  /** Part of `stale`: something upstream gave up. */
  blocked: count,
});

export const statusAnswer = z.object({
  entities: count,
  ...counts.shape,
  /** False if more gave up than were followed, so that `blocked` is a lower bound. */
  blocked_is_exact: z.boolean(),
  paused: z.boolean(),
  stages: z.record(z.string(), counts),
});
export type StatusAnswer = z.infer<typeof statusAnswer>;
export type StatusCounts = z.infer<typeof counts>;

export const entitySummary = z.object({
  id: z.string(),
  stages: z.record(z.string(), z.enum(PIPELINE_WORDS)),
});
export type EntitySummary = z.infer<typeof entitySummary>;

const sourceState = z.object({
  path: z.string(),
  is_source: z.literal(true),
  discovered_at: time.nullable(),
  content_hash: blake3.nullable(),
  status: storedWord,
});

const madeState = z.object({
  path: z.string().nullable(),
  /** Of what the entities of a stage share: command or node, code, params. */
  code_hash: blake3.nullable(),
  content_hash: blake3.nullable(),
  produced_at: time.nullable(),
  produced_by: z.string().nullable(),
  /** By the stage that made the input, or by its path if no stage of this workflow did. */
  input_hashes: z.record(z.string(), z.string()),
  status: z.enum(COUNTED_WORDS),
  cache_key: blake3.nullable(),
  runner: z.string().nullable(),
});

const failure = z.object({
  error: z.string(),
  error_details: z.string().nullable(),
  attempts: count,
  first_failed_at: time,
  last_failed_at: time,
  next_retry_at: time.nullable(),
});

export const entityAnswer = z.object({
  id: z.string(),
  manifest: z.object({
    entity_id: z.string(),
    states: z.record(z.string(), z.union([sourceState, madeState])),
  }),
  failures: z.record(z.string(), failure),
});
export type EntityAnswer = z.infer<typeof entityAnswer>;
export type ManifestState = EntityAnswer['manifest']['states'][string];

export const stateAnswer = z.object({
  stage: z.string(),
  entity: z.string(),
  status: z.enum(COUNTED_WORDS),
  reasons: z.array(z.string()),
  cache_key: blake3.nullable(),
  content_hash: blake3.nullable(),
  attempts: count,
  error: z.string().nullable(),
  next_retry_at: time.nullable(),
  /** Who holds the lease, until when. */
  runner: z.string().nullable(),
  lease_until: time.nullable(),
});
export type StateAnswer = z.infer<typeof stateAnswer>;

const named = z.object({ workflow: z.string(), stage: z.string(), entity: z.string() });
export type NamedState = z.infer<typeof named>;

const toldReason = z.looseObject({ reason: z.string(), sentence: z.string() });
export type ToldReason = z.infer<typeof toldReason>;

export const whyAnswer = z.object({
  workflow: z.string(),
  stage: z.string(),
  entity: z.string(),
  status: storedWord,
  word: z.enum(STATE_WORDS),
  /** What a state that cannot be made now waits for; the fields below name it. */
  cause: z.enum(['missing', 'upstream', 'after', 'retry', 'gave-up']).nullable(),
  reasons: z.array(toldReason),
  /** What it reads that is not there, and that nobody is about to make. */
  waits_for: z.array(z.string()),
  /** Stages that it comes after and that are not done. */
  after: z.array(z.object({ workflow: z.string(), stage: z.string(), unsettled: count })),
  retry_at: time.nullable(),
  blocked_by: z.array(named),
  /** What it is made from and is not settled itself. */
  get upstream() {
    return z.array(whyAnswer);
  },
  /** How many further states stand here that are left out: too many, too far, or told elsewhere in the tree. */
  more: count.optional(),
});
export type WhyAnswer = z.infer<typeof whyAnswer>;

export const eventAnswer = z.looseObject({
  id: z.int(),
  ts: time,
  event: z.string(),
  workflow: z.string().nullable(),
  stage: z.string().optional(),
  entity: z.string().optional(),
});
export type EventAnswer = z.infer<typeof eventAnswer>;

export const machineAnswer = z.object({
  role: z.enum(['runner', 'watcher']),
  name: z.string(),
  targets: z.array(z.string()),
  facts: z.unknown(),
  first_seen_at: time,
  last_seen_at: time,
});
export type MachineAnswer = z.infer<typeof machineAnswer>;

export const attemptAnswer = z.object({
  token: z.int(),
  kind: z.enum(['make', 'clean']),
  runner: z.string(),
  run: z.string().nullable(),
  started_at: time,
  ended_at: time.nullable(),
  /** Null while it is open. */
  outcome: z.enum(['made', 'verified', 'skipped', 'cleaned', 'failed', 'released', 'lost']).nullable(),
  reasons: z.array(z.unknown()),
  exit_code: z.int().nullable(),
  error: z.string().nullable(),
  log_tail: z.string().nullable(),
  seconds: z.number().nullable(),
});
export type AttemptAnswer = z.infer<typeof attemptAnswer>;
