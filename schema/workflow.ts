// The normal form: what every workflow file becomes, whichever of the three front ends it was written in.
//
// It is plain JSON, so it can be stored and sent; where each part stood in the source is kept apart
// (`LoadedWorkflow.places`). Everything optional in a file has its default filled in here.

import type { Json, StageId, TargetName } from './words.ts';

export interface Workflow {
  readonly name: string;
  readonly version: string;
  readonly description: string | null;
  readonly frontEnd: 'playbook' | 'pipeline' | 'job';
  /** A playbook's `params`, a job's `config`. */
  readonly params: Readonly<Record<string, Json>>;
  readonly secrets: readonly string[];
  readonly targets: Readonly<Record<string, Target>>;
  /** In file order; gates expanded from `compliance` stand before and after the others. */
  readonly stages: readonly Stage[];
  readonly policy: Policy;
  readonly watch: WatchSettings;
  readonly schedule: Schedule | null;
  readonly jobDependencies: readonly JobDependency[];
  /** At most this many entities (pipeline) or tasks (job) at once; null is no limit of the file's own. */
  readonly maxConcurrent: number | null;
}

export interface Target {
  readonly host: string;
  readonly sshUser: string | null;
  readonly root: string | null;
  readonly cores: number | null;
  readonly memoryBytes: number | null;
  readonly gpu: number | null;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly id: StageId;
  readonly description: string | null;
  /** `source`: only observed. `action`: has no outs. `transform`: makes its outs. */
  readonly kind: 'source' | 'transform' | 'action';
  /** A pipeline's declared end point. */
  readonly sink: boolean;
  readonly action: Action;
  readonly deps: readonly Dep[];
  readonly outs: readonly Out[];
  /** The entity's variables, in the order of the driver's pattern. */
  readonly variables: readonly string[];
  /** Which of `deps` enumerates the entities; null if the stage has no variables. */
  readonly driver: number | null;
  /** Names of params declared or referenced: those that enter `params_hash`. */
  readonly params: readonly string[];
  readonly secrets: readonly string[];
  /** Files whose content is part of `cmd_hash`. */
  readonly code: readonly string[];
  readonly target: TargetName;
  readonly after: readonly StageId[];
  readonly fanOut: FanOut | null;
  readonly retry: RetryRule;
  readonly resources: Resources;
  readonly collect: Collect;
  readonly validation: Validation;
  /** A source's condition for counting as arrived. */
  readonly filter: Validation;
  readonly condition: TaskCondition;
  readonly priority: number;
  readonly cwd: 'project' | 'work' | null;
  readonly frozen: boolean;
  readonly deterministic: boolean;
  readonly gate: boolean;
}

export type Action =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'shell';
      readonly cmd: string;
      readonly shell: 'rash' | 'raw';
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'program';
      readonly program: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly workingDir: string | null;
    }
  | { readonly kind: 'node'; readonly node: Node; readonly whenTrue: Node | null }
  | { readonly kind: 'check'; readonly check: string; readonly options: Readonly<Record<string, Json>> };

export interface Node {
  readonly typeId: string;
  readonly data: Readonly<Record<string, Json>>;
}

/** How a dep's variables relate to the stage's (SEMANTICS 9, 10). */
export type DepBinding = 'one' | 'shared' | 'collected';

export interface Dep {
  /** As written (a pipeline's under its `stateRoot`), normalised, still a pattern; `/` at the end marks a directory. */
  readonly path: string;
  readonly type: string | null;
  readonly binding: DepBinding;
  /** The target the path is on. */
  readonly target: TargetName;
  /** Set if this dep was not listed but follows from `input` or a `{{$.stage…}}` reference. */
  readonly stage: StageId | null;
}

export interface Out {
  readonly path: string;
  readonly type: string | null;
  readonly remote: TargetName | null;
}

export interface FanOut {
  readonly strategy: 'per_file' | 'chunked';
  readonly glob: string | null;
  readonly maxWorkers: number | null;
  readonly chunkSize: number | null;
  readonly ext: string | null;
}

export interface RetryRule {
  /** Retries after the first attempt. */
  readonly retries: number;
  readonly on: 'failure' | 'timeout' | 'transient' | 'never';
  readonly backoff: Backoff;
}

export type Backoff =
  | {
      readonly kind: 'exponential';
      readonly initialMs: number;
      readonly factor: number;
      readonly maxMs: number | null;
    }
  | { readonly kind: 'schedule'; readonly waitsMs: readonly number[] };

export interface Resources {
  readonly cores: number;
  /** 0 is unlimited, as for `timeoutMs`. */
  readonly memoryBytes: number;
  readonly gpu: number;
  readonly diskBytes: number;
  readonly timeoutMs: number;
  readonly slots: Readonly<Record<string, number>>;
}

export interface Collect {
  readonly maxWaitMs: number | null;
  readonly onFailed: 'block' | 'omit';
}

export interface Validation {
  readonly minSize: number | null;
  readonly minFiles: number | null;
}

export type TaskCondition = 'always' | 'all_success' | 'on_failure' | 'all_done';

export interface Policy {
  readonly failure: 'stop_on_first' | 'continue_on_failure' | 'collect_all';
  readonly validation: 'checksum' | 'none';
  readonly lockFile: boolean;
  readonly lockTimings: boolean;
  readonly concurrency: 'wait' | 'fail';
  readonly workDir: string | null;
  readonly cleanOnSuccess: boolean;
  readonly onSourceRemoved: 'keep' | 'clean';
}

export interface WatchSettings {
  readonly settleMs: number;
  readonly ignore: readonly string[];
  readonly poll: 'auto' | boolean;
  readonly sentinel: string | null;
  readonly scanIntervalMs: number;
}

export interface Schedule {
  readonly expression: string;
  readonly timezone: string | null;
}

export interface JobDependency {
  readonly job: string;
  readonly condition: 'last_success' | 'within_window';
  readonly windowMs: number | null;
}

/** A global configuration file: what one installation allows, not a workflow. */
export interface Settings {
  readonly maxConcurrency: number | null;
  readonly pools: Readonly<Record<string, number>>;
  readonly storage: { readonly type: string; readonly path: string | null } | null;
  readonly tickIntervalMs: number | null;
  readonly logging: { readonly level: string | null; readonly format: string | null };
}

export const NO_RETRY: RetryRule = {
  retries: 0,
  on: 'never',
  backoff: { kind: 'exponential', initialMs: 1_000, factor: 2, maxMs: 300_000 },
};

export const DEFAULT_RESOURCES: Resources = {
  cores: 1,
  memoryBytes: 0,
  gpu: 0,
  diskBytes: 0,
  timeoutMs: 0,
  slots: {},
};

export const DEFAULT_POLICY: Policy = {
  failure: 'stop_on_first',
  validation: 'checksum',
  lockFile: true,
  lockTimings: true,
  concurrency: 'wait',
  workDir: null,
  cleanOnSuccess: false,
  onSourceRemoved: 'keep',
};

export const DEFAULT_WATCH: WatchSettings = {
  settleMs: 500,
  ignore: [],
  poll: 'auto',
  sentinel: null,
  scanIntervalMs: 60_000,
};
