// What a playbook file may say: the fields of batuta §2.1 and §7.2, and ours.

import * as z from 'zod';
import { count, dep, duration, environment, head, json, names, out, positive, running } from './shapes.ts';

const retry = z.strictObject({
  limit: count,
  policy: z.enum(['on_failure', 'on_timeout', 'on_transient', 'never']).optional(),
  backoff: z
    .strictObject({ initial: duration, factor: z.number().min(1).optional(), max: duration.optional() })
    .optional(),
});

const parallel = z.strictObject({
  strategy: z.enum(['per_file', 'chunked']),
  glob: z.string().min(1).optional(),
  max_workers: positive.optional(),
  chunk_size: positive.optional(),
  ext: z.string().min(1).optional(),
});

export const playbookStage = z.strictObject({
  description: z.string().optional(),
  cmd: z.string().min(1).optional(),
  deps: z.array(dep).optional(),
  outs: z.array(out).optional(),
  params: names.optional(),
  env: environment.optional(),
  parallel: parallel.optional(),
  retry: retry.optional(),
  after: names.optional(),
  shell: z.enum(['rash', 'raw']).optional(),
  gate: z.boolean().optional(),
  ...running,
});

const grade = z.string();
const failOn = z.string();

/** One check per entry, named by its key (batuta §4.9.2, §4.9.3). */
const check = z
  .strictObject({
    tdg: z.strictObject({ path: z.string(), min_grade: grade, fail_on: failOn.optional() }).optional(),
    quality_gate: z.strictObject({ min_grade: grade, fail_on: failOn.optional() }).optional(),
    mutation: z.strictObject({ threshold: count }).optional(),
    coverage: z.strictObject({ path: z.string(), min_percent: z.number().min(0).max(100) }).optional(),
    complexity: z.strictObject({ max_cyclomatic: count }).optional(),
    defect_prediction: z.strictObject({ max_severity: z.string() }).optional(),
    dead_code: z.strictObject({ fail_on: failOn }).optional(),
    duplication: z.strictObject({ max_ratio: z.number().min(0) }).optional(),
    documentation: z.strictObject({ validate_claims: z.boolean() }).optional(),
    satd: z.strictObject({ max_count: count.optional() }).optional(),
  })
  .superRefine((value, context) => {
    if (Object.keys(value).length === 1) return;
    context.addIssue({
      code: 'custom',
      message: `expected one check per entry, found ${Object.keys(value).length}`,
      params: { code: 'bad-check', hint: 'begin each check with its own dash' },
    });
  });

export const playbookShape = z
  .strictObject({
    ...head,
    params: z.record(z.string(), json).optional(),
    stages: z.record(z.string().min(1), playbookStage),
    compliance: z
      .strictObject({ pre_flight: z.array(check).optional(), post_flight: z.array(check).optional() })
      .optional(),
  })
  .meta({ title: 'Sluice playbook' });

export type Playbook = z.infer<typeof playbookShape>;
export type PlaybookStage = z.infer<typeof playbookStage>;
