// The parts that more than one front end writes the same way: validated here, once.

import * as z from 'zod';
import { DURATION_PATTERN, parseDuration } from '../duration.ts';
import { parsePattern } from '../pattern.ts';
import type { Json } from '../words.ts';

export const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(json), z.record(z.string(), json)]),
);

/** `5s`, `10m`, or a bare number of seconds. */
export const duration = z
  .union([z.string(), z.number()])
  .superRefine((value, context) => {
    const parsed = parseDuration(value);
    if (!parsed.ok) {
      context.addIssue({
        code: 'custom',
        message: parsed.message,
        params: { code: 'bad-duration', hint: parsed.hint },
      });
    }
  })
  .meta({
    description: 'A duration such as 500ms, 5s, 10m or 2h; a bare number is seconds.',
    pattern: DURATION_PATTERN,
    minimum: 0,
  });

export const count = z.int().min(0);
export const positive = z.int().min(1);
export const names = z.array(z.string());
export const environment = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

export const version = z.union([z.literal('1.0'), z.literal(1)]);

export const targets = z.record(
  z.string(),
  z.strictObject({
    host: z.string(),
    ssh_user: z.string().optional(),
    root: z.string().optional(),
    cores: positive.optional(),
    memory_gb: z.number().positive().optional(),
    gpu: count.optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
);

export const dep = z.union([z.string(), z.strictObject({ path: z.string(), type: z.string().optional() })]);

export const out = z.union([
  z.string(),
  z.strictObject({ path: z.string(), type: z.string().optional(), remote: z.string().optional() }),
]);

export const resources = z
  .strictObject({
    cores: z.number().positive().optional(),
    cpu_cores: z.number().positive().optional(),
    memory_gb: z.number().min(0).optional(),
    memory_bytes: count.optional(),
    gpu: count.optional(),
    disk_gb: z.number().min(0).optional(),
    timeout: duration.optional(),
    slots: z.record(z.string(), positive).optional(),
  })
  .superRefine((written, context) => {
    for (const [one, other] of SAME_RESOURCE) {
      if (written[one] === undefined || written[other] === undefined) continue;
      const message = `'${one}' and '${other}' say the same thing`;
      const params = { code: 'misplaced-key', hint: 'keep one of the two' };
      context.addIssue({ code: 'custom', path: [one], message, params });
    }
  });

/** The two designs' words for one resource: with both, one of them would be ignored. */
const SAME_RESOURCE = [
  ['cpu_cores', 'cores'],
  ['memory_bytes', 'memory_gb'],
] as const;

export const collect = z.strictObject({
  max_wait: duration.optional(),
  on_failed: z.enum(['block', 'omit']).optional(),
});

export const validation = z.strictObject({ minSize: count.optional(), minFiles: count.optional() });

export const policy = z.strictObject({
  failure: z.enum(['stop_on_first', 'continue_on_failure', 'collect_all']).optional(),
  validation: z.enum(['checksum', 'none']).optional(),
  lock_file: z.boolean().optional(),
  lock_timings: z.boolean().optional(),
  concurrency: z.enum(['wait', 'fail']).optional(),
  work_dir: z.string().optional(),
  clean_on_success: z.boolean().optional(),
  on_source_removed: z.enum(['keep', 'clean']).optional(),
});

/** In the directory of the file that it is about, so it names no other. */
function isSentinel(text: string): boolean {
  const parsed = parsePattern(text);
  return (
    parsed.ok &&
    !parsed.pattern.directory &&
    parsed.pattern.segments.length === 1 &&
    parsed.pattern.variables.length > 0
  );
}

export const watch = z.strictObject({
  settle: duration.optional(),
  ignore: names.optional(),
  poll: z.union([z.literal('auto'), z.boolean()]).optional(),
  sentinel: z
    .string()
    .refine(isSentinel, "expected the name of a file beside another, with a variable: '{x}.done'")
    .optional(),
});

/** What the head of every workflow file may say, whichever front end follows. */
export const head = {
  version: version.optional(),
  name: z.string().min(1).optional(),
  description: z.string().optional(),
  targets: targets.optional(),
  secrets: names.optional(),
  policy: policy.optional(),
  watch: watch.optional(),
};

/** What every stage may say about where and how it runs. */
export const running = {
  target: z.string().optional(),
  secrets: names.optional(),
  code: names.optional(),
  resources: resources.optional(),
  collect: collect.optional(),
  priority: z.int().optional(),
  cwd: z.enum(['project', 'work']).optional(),
  frozen: z.boolean().optional(),
  deterministic: z.boolean().optional(),
};
