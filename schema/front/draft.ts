// Between a front end and the normal form: the same stage, with paths and templates still as written.

import type * as z from 'zod';
import { parseDuration } from '../duration.ts';
import type { Path } from '../source-document.ts';
import { LOCAL, type StageId, type TargetName } from '../words.ts';
import type { Collect, Policy, Target, Validation, WatchSettings } from '../workflow.ts';
import { DEFAULT_RESOURCES, NO_RETRY, type Resources, type Stage, type Workflow } from '../workflow.ts';
import type { collect, policy, resources, running, targets, validation, watch } from './shapes.ts';

/** A path as written and where it stood. */
export interface DraftPath {
  readonly path: string;
  readonly type: string | null;
  readonly at: Path;
}

export interface DraftStage
  extends Omit<Stage, 'kind' | 'deps' | 'outs' | 'variables' | 'driver' | 'params' | 'target'> {
  readonly at: Path;
  readonly source: boolean;
  readonly deps: readonly (DraftPath & { readonly stage: StageId | null })[];
  readonly outs: readonly (DraftPath & { readonly remote: string | null })[];
  readonly params: readonly { readonly name: string; readonly at: Path }[];
  readonly target: string | null;
  /** Every text of the stage in which templates are read, and where it stood. */
  readonly templates: readonly { readonly text: string; readonly at: Path }[];
  readonly afterAt: Path;
  /** A pipeline's `input` that is the id of no stage; then nobody can say which entities there are. */
  readonly unknownInput: string | null;
}

export interface DraftWorkflow extends Omit<Workflow, 'stages'> {
  readonly stages: readonly DraftStage[];
  /** Where params are defined, for the "known names" of an error. */
  readonly paramsAt: Path;
}

/** A stage that says nothing: what each front end starts from. */
export function emptyStage(id: string, at: Path): DraftStage {
  return {
    id: id as StageId,
    at,
    description: null,
    source: false,
    sink: false,
    action: { kind: 'none' },
    deps: [],
    outs: [],
    params: [],
    secrets: [],
    code: [],
    target: null,
    templates: [],
    after: [],
    afterAt: [...at, 'after'],
    unknownInput: null,
    fanOut: null,
    retry: NO_RETRY,
    resources: DEFAULT_RESOURCES,
    collect: { maxWaitMs: null, onFailed: 'block' },
    validation: { minSize: null, minFiles: null },
    filter: { minSize: null, minFiles: null },
    condition: 'all_success',
    priority: 0,
    cwd: null,
    frozen: false,
    deterministic: true,
    gate: false,
  };
}

type Running = { [K in keyof typeof running]?: z.infer<(typeof running)[K]> };

/** The fields of `running` in shapes.ts, with their defaults. */
export function runningFields(written: Running) {
  return {
    target: written.target ?? null,
    secrets: written.secrets ?? [],
    code: written.code ?? [],
    resources: toResources(written.resources),
    collect: toCollect(written.collect),
    priority: written.priority ?? 0,
    cwd: written.cwd ?? null,
    frozen: written.frozen ?? false,
    deterministic: written.deterministic ?? true,
  };
}

export const GB = 1024 ** 3;

export function toResources(written: z.infer<typeof resources> | undefined): Resources {
  if (written === undefined) return DEFAULT_RESOURCES;
  return {
    cores: written.cores ?? written.cpu_cores ?? DEFAULT_RESOURCES.cores,
    memoryBytes: written.memory_bytes ?? Math.round((written.memory_gb ?? 0) * GB),
    gpu: written.gpu ?? 0,
    diskBytes: Math.round((written.disk_gb ?? 0) * GB),
    timeoutMs: toMs(written.timeout) ?? 0,
    slots: written.slots ?? {},
  };
}

export function toTargets(written: z.infer<typeof targets> | undefined): Record<string, Target> {
  const entries = Object.entries(written ?? {}).map(([name, target]): [string, Target] => [
    name,
    {
      host: target.host,
      sshUser: target.ssh_user ?? null,
      root: target.root ?? null,
      cores: target.cores ?? null,
      memoryBytes: target.memory_gb === undefined ? null : Math.round(target.memory_gb * GB),
      gpu: target.gpu ?? null,
      labels: target.labels ?? {},
    },
  ]);
  return Object.fromEntries(entries);
}

export function toPolicy(written: z.infer<typeof policy> | undefined, base: Policy): Policy {
  return {
    failure: written?.failure ?? base.failure,
    validation: written?.validation ?? base.validation,
    lockFile: written?.lock_file ?? base.lockFile,
    lockTimings: written?.lock_timings ?? base.lockTimings,
    concurrency: written?.concurrency ?? base.concurrency,
    workDir: written?.work_dir ?? base.workDir,
    cleanOnSuccess: written?.clean_on_success ?? base.cleanOnSuccess,
    onSourceRemoved: written?.on_source_removed ?? base.onSourceRemoved,
  };
}

export function toWatch(written: z.infer<typeof watch> | undefined, base: WatchSettings): WatchSettings {
  return {
    settleMs: toMs(written?.settle) ?? base.settleMs,
    ignore: written?.ignore ?? base.ignore,
    poll: written?.poll ?? base.poll,
    sentinel: written?.sentinel ?? base.sentinel,
    scanIntervalMs: base.scanIntervalMs,
  };
}

export function toValidation(written: z.infer<typeof validation> | undefined): Validation {
  return { minSize: written?.minSize ?? null, minFiles: written?.minFiles ?? null };
}

function toCollect(written: z.infer<typeof collect> | undefined): Collect {
  return { maxWaitMs: toMs(written?.max_wait) ?? null, onFailed: written?.on_failed ?? 'block' };
}

/** The shape has already refused what is not a duration. */
export function toMs(written: string | number | undefined): number | undefined {
  if (written === undefined) return undefined;
  const parsed = parseDuration(written);
  return parsed.ok ? parsed.ms : undefined;
}

export function targetName(written: string | null): TargetName {
  return written === null || written === 'localhost' ? LOCAL : (written as TargetName);
}

export function textEnvironment(written: Readonly<Record<string, string | number | boolean>> | undefined) {
  return Object.fromEntries(Object.entries(written ?? {}).map(([name, value]) => [name, String(value)]));
}
