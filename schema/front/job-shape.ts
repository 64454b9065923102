// What a job file may say: scheduled tasks, and the global configuration beside them (petit.md).

import * as z from 'zod';
import { count, duration, environment, head, json, names, positive, running } from './shapes.ts';

const task = z.strictObject({
  type: z.literal('command').optional(),
  description: z.string().optional(),
  program: z.string().min(1),
  args: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  env: environment.optional(),
  working_dir: z.string().optional(),
  depends_on: names.optional(),
  condition: z.enum(['always', 'all_success', 'on_failure', 'all_done']).optional(),
  retry: z
    .strictObject({
      max_attempts: count,
      delay_seconds: z.number().min(0).optional(),
      retry_on: z.enum(['always', 'transient_only', 'never']).optional(),
    })
    .optional(),
  target: running.target,
  secrets: running.secrets,
  resources: running.resources,
  priority: running.priority,
});

export const jobShape = z
  .strictObject({
    ...head,
    schedule: z.string().optional(),
    timezone: z.string().optional(),
    max_concurrency: positive.optional(),
    depends_on: z
      .array(
        z.strictObject({
          job: z.string(),
          condition: z.enum(['last_success', 'within_window']).optional(),
          window: duration.optional(),
        }),
      )
      .optional(),
    config: z.record(z.string(), json).optional(),
    tasks: z.record(z.string().min(1), task),
  })
  .superRefine(({ schedule, timezone }, context) => {
    if (schedule !== undefined || timezone === undefined) return;
    const message = "'timezone' has no meaning here";
    const params = { code: 'misplaced-key', hint: "add 'schedule', or remove it" };
    context.addIssue({ code: 'custom', path: ['timezone'], message, params });
  })
  .meta({ title: 'Sluice job' });

export const settingsShape = z
  .strictObject({
    executor: z.strictObject({ max_concurrency: positive.optional() }).optional(),
    resources: z.strictObject({ pools: z.record(z.string(), count).optional() }).optional(),
    storage: z.strictObject({ type: z.string(), path: z.string().optional() }).optional(),
    scheduler: z.strictObject({ tick_interval_ms: positive.optional() }).optional(),
    logging: z.strictObject({ level: z.string().optional(), format: z.string().optional() }).optional(),
  })
  .meta({ title: 'Sluice settings' });

export type Job = z.infer<typeof jobShape>;
export type Task = z.infer<typeof task>;
