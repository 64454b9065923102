// The event log: one JSON object per line, told apart by `event`.

import * as z from 'zod';

const ts = z.iso.datetime({ offset: true });
const count = z.int().nonnegative();
const seconds = z.number().nonnegative();
/** `entity` is absent for a stage that has only one. */
const ofStage = { ts, stage: z.string(), entity: z.string().optional() };

const runStarted = z.object({
  ts,
  event: z.literal('run_started'),
  playbook: z.string(),
  run_id: z.string(),
  sluice_version: z.string(),
});

/** One per stage and run: with a `count` it speaks for that many states, which have no one key in common. */
const stageCached = z.object({
  ...ofStage,
  event: z.literal('stage_cached'),
  cache_key: z.string().optional(),
  reason: z.string(),
  count: count.optional(),
});

const stageStarted = z.object({
  ...ofStage,
  event: z.literal('stage_started'),
  target: z.string(),
  cache_miss_reason: z.string(),
  /** False if the command ran as written although `shell: rash` was asked for. */
  purified: z.boolean().optional(),
});

const stageCompleted = z.object({
  ...ofStage,
  event: z.literal('stage_completed'),
  duration_seconds: seconds,
  outs_hash: z.string(),
});

/** A condition is false: for this key there is nothing to make. */
const stageSkipped = z.object({ ...ofStage, event: z.literal('stage_skipped'), reason: z.string() });

/** `exit_code` is null if the command never ended by itself: not started, timed out, machine lost. */
const stageFailed = z.object({
  ...ofStage,
  event: z.literal('stage_failed'),
  exit_code: z.int().nullable(),
  retry_attempt: count,
  error: z.string(),
});

const stageRetry = z.object({
  ...ofStage,
  event: z.literal('stage_retry'),
  attempt: count,
  backoff_seconds: seconds,
});

const runCompleted = z.object({
  ts,
  event: z.literal('run_completed'),
  run_id: z.string(),
  stages_run: count,
  stages_cached: count,
  stages_failed: count,
  total_seconds: seconds,
});

/** Only checks that grade have a `grade`; the others speak through `details`. */
const gatePassed = z.object({
  ...ofStage,
  event: z.literal('gate_passed'),
  gate: z.string(),
  grade: z.string().optional(),
  details: z.record(z.string(), z.json()).optional(),
});

const gateFailed = z.object({
  ...ofStage,
  event: z.literal('gate_failed'),
  gate: z.string(),
  grade: z.string().optional(),
  min_required: z.union([z.string(), z.number()]).optional(),
  violations: z.array(z.string()),
});

export const eventSchema = z.discriminatedUnion('event', [
  runStarted,
  stageCached,
  stageStarted,
  stageCompleted,
  stageSkipped,
  stageFailed,
  stageRetry,
  runCompleted,
  gatePassed,
  gateFailed,
]);

export type Event = z.infer<typeof eventSchema>;

export type EventLine =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'blank' }
  /** Not JSON: what a crash in the middle of an append leaves as the last line. */
  | { readonly kind: 'torn'; readonly message: string }
  /** An event of a newer Sluice: to be kept, not understood. */
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'invalid'; readonly message: string };

export function parseEventLine(line: string): EventLine {
  if (line.trim() === '') return { kind: 'blank' };
  const value = parseJson(line);
  if (value === undefined) return { kind: 'torn', message: 'the line is cut off or not JSON' };
  const name = eventName(value);
  if (name === undefined) return { kind: 'invalid', message: 'expected an object with a text field "event"' };
  if (!KNOWN.has(name)) return { kind: 'unknown', name };
  const parsed = eventSchema.safeParse(value);
  if (parsed.success) return { kind: 'event', event: parsed.data };
  const { path, message } = parsed.error.issues[0]!;
  return { kind: 'invalid', message: `${name}: ${path.join('.')}: ${message}` };
}

/** With its line break; time and name come first, so that the log can be skimmed. */
export function formatEventLine(event: Event): string {
  const { ts: at, event: name, ...rest } = event;
  return `${JSON.stringify({ ts: at, event: name, ...rest })}\n`;
}

const KNOWN: ReadonlySet<string> = new Set(
  eventSchema.options.map((option) => option.shape.event.value as string),
);

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function eventName(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('event' in value)) return undefined;
  return typeof value.event === 'string' ? value.event : undefined;
}
