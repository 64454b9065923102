// The job front end: `tasks:` run in order by a schedule or by hand; and the global configuration file.

import type * as z from 'zod';
import type { Path } from '../source-document.ts';
import type { StageId } from '../words.ts';
import { DEFAULT_POLICY, DEFAULT_WATCH, NO_RETRY, type RetryRule, type Settings } from '../workflow.ts';
import {
  type DraftStage,
  type DraftWorkflow,
  emptyStage,
  runningFields,
  textEnvironment,
  toMs,
  toPolicy,
  toTargets,
  toWatch,
} from './draft.ts';
import type { Job, settingsShape, Task } from './job-shape.ts';

export function draftJob(file: Job, defaultName: string): DraftWorkflow {
  return {
    name: file.name ?? defaultName,
    version: '1.0',
    description: file.description ?? null,
    frontEnd: 'job',
    params: file.config ?? {},
    paramsAt: ['config'],
    secrets: file.secrets ?? [],
    targets: toTargets(file.targets),
    stages: Object.entries(file.tasks).map(([id, task]) => draftTask(id, task)),
    policy: toPolicy(file.policy, DEFAULT_POLICY),
    watch: toWatch(file.watch, DEFAULT_WATCH),
    schedule:
      file.schedule === undefined ? null : { expression: file.schedule, timezone: file.timezone ?? null },
    jobDependencies: (file.depends_on ?? []).map(({ job, condition, window }) => ({
      job,
      condition: condition ?? 'last_success',
      windowMs: toMs(window) ?? null,
    })),
    maxConcurrent: file.max_concurrency ?? null,
  };
}

function draftTask(id: string, task: Task): DraftStage {
  const at: Path = ['tasks', id];
  const args = (task.args ?? []).map(String);
  return {
    ...emptyStage(id, at),
    ...runningFields(task),
    description: task.description ?? null,
    action: {
      kind: 'program',
      program: task.program,
      args,
      env: textEnvironment(task.env),
      workingDir: task.working_dir ?? null,
    },
    templates: [
      { text: task.program, at: [...at, 'program'] },
      ...args.map((text, i) => ({ text, at: [...at, 'args', i] })),
      ...Object.entries(task.env ?? {}).map(([name, text]) => ({
        text: String(text),
        at: [...at, 'env', name],
      })),
      ...(task.working_dir === undefined ? [] : [{ text: task.working_dir, at: [...at, 'working_dir'] }]),
    ],
    after: (task.depends_on ?? []) as StageId[],
    afterAt: [...at, 'depends_on'],
    retry: toRetry(task.retry),
    condition: task.condition ?? 'all_success',
  };
}

const RETRY_ON = { always: 'failure', transient_only: 'transient', never: 'never' } as const;

/** A fixed delay is an exponential one that does not grow. */
function toRetry(written: Task['retry']): RetryRule {
  if (written === undefined) return NO_RETRY;
  const on = RETRY_ON[written.retry_on ?? 'always'];
  return {
    retries: on === 'never' ? 0 : written.max_attempts,
    on,
    backoff: { kind: 'exponential', initialMs: (written.delay_seconds ?? 0) * 1_000, factor: 1, maxMs: null },
  };
}

export function readSettings(file: z.infer<typeof settingsShape>): Settings {
  return {
    maxConcurrency: file.executor?.max_concurrency ?? null,
    pools: file.resources?.pools ?? {},
    storage: file.storage ? { type: file.storage.type, path: file.storage.path ?? null } : null,
    tickIntervalMs: file.scheduler?.tick_interval_ms ?? null,
    logging: { level: file.logging?.level ?? null, format: file.logging?.format ?? null },
  };
}
