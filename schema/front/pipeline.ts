// The pipeline front end: `mode: pipeline`, sources and transforms told by their state patterns.

import type { Path } from '../source-document.ts';
import type { Json, StageId } from '../words.ts';
import {
  type Action,
  type Backoff,
  DEFAULT_POLICY,
  DEFAULT_WATCH,
  type Node,
  type RetryRule,
} from '../workflow.ts';
import {
  type DraftStage,
  type DraftWorkflow,
  emptyStage,
  runningFields,
  textEnvironment,
  toMs,
  toPolicy,
  toTargets,
  toValidation,
  toWatch,
} from './draft.ts';
import { commandData, type Pipeline, type PipelineStage } from './pipeline-shape.ts';

/** One minute to one day: what a pipeline without a `retryPolicy` waits between attempts. */
const DEFAULT_BACKOFF_SECONDS = [60, 300, 900, 3_600, 14_400, 86_400];

export function draftPipeline(file: Pipeline, defaultName: string): DraftWorkflow {
  const retry = toRetry(file.retryPolicy);
  return {
    name: file.name ?? defaultName,
    version: '1.0',
    description: file.description ?? null,
    frontEnd: 'pipeline',
    params: file.params ?? {},
    paramsAt: ['params'],
    secrets: file.secrets ?? [],
    targets: toTargets(file.targets),
    stages: file.stages.map((stage, i) => draftStage(stage, ['stages', i], { file, retry })),
    policy: toPolicy(file.policy, { ...DEFAULT_POLICY, failure: 'continue_on_failure' }),
    watch: toWatch(file.watch, {
      ...DEFAULT_WATCH,
      scanIntervalMs: toMs(file.scanInterval) ?? DEFAULT_WATCH.scanIntervalMs,
    }),
    schedule: null,
    jobDependencies: [],
    maxConcurrent: file.maxConcurrentEntities ?? null,
  };
}

interface Around {
  readonly file: Pipeline;
  readonly retry: RetryRule;
}

function draftStage(stage: PipelineStage, at: Path, { file, retry }: Around): DraftStage {
  const input = file.stages.find(({ id }) => id === stage.input);
  return {
    ...emptyStage(stage.id, at),
    ...runningFields(stage),
    description: stage.description ?? (stage.name === stage.id ? null : (stage.name ?? null)),
    source: stage.type === 'source',
    sink: stage.type === 'sink',
    action: toAction(stage),
    deps:
      input === undefined
        ? []
        : [{ ...place(file, input.pattern, [...at, 'input']), stage: input.id as StageId }],
    outs: [{ ...place(file, stage.pattern, [...at, 'pattern']), remote: null }],
    params: (stage.params ?? []).map((name, i) => ({ name, at: [...at, 'params', i] })),
    templates: [
      ...templatesIn(stage.node?.data, [...at, 'node', 'data']),
      ...templatesIn(stage.then?.data, [...at, 'then', 'data']),
    ],
    after: (stage.after ?? []) as StageId[],
    unknownInput: input === undefined ? (stage.input ?? null) : null,
    retry: stage.type === 'source' ? { ...retry, retries: 0, on: 'never' } : retry,
    validation: toValidation(stage.validation),
    filter: toValidation(stage.filter),
  };
}

/** Patterns stand under `stateRoot`. */
function place(file: Pipeline, pattern: string, at: Path) {
  return { path: `${file.stateRoot.replace(/\/+$/, '')}/${pattern}`, type: null, at };
}

function toAction(stage: PipelineStage): Action {
  if (stage.node === undefined) return { kind: 'none' };
  const data = stage.node.data ?? {};
  if (stage.node.typeId === 'command') {
    const { cmd, shell, env } = commandData.parse(data);
    return { kind: 'shell', cmd, shell: shell ?? 'rash', env: textEnvironment(env) };
  }
  const node: Node = { typeId: stage.node.typeId, data };
  return {
    kind: 'node',
    node,
    whenTrue: stage.then ? { typeId: stage.then.typeId, data: stage.then.data ?? {} } : null,
  };
}

function templatesIn(value: Json | undefined, at: Path): { text: string; at: Path }[] {
  if (typeof value === 'string') return [{ text: value, at }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, i) => templatesIn(item, [...at, i]));
  return Object.entries(value).flatMap(([key, item]) => templatesIn(item, [...at, key]));
}

/** A pipeline counts attempts in all; the normal form counts retries after the first (SEMANTICS 18). */
function toRetry(written: Pipeline['retryPolicy']): RetryRule {
  const seconds = written?.backoffSeconds ?? DEFAULT_BACKOFF_SECONDS;
  const backoff: Backoff = { kind: 'schedule', waitsMs: seconds.map((wait) => wait * 1_000) };
  return { retries: (written?.maxAttempts ?? DEFAULT_BACKOFF_SECONDS.length) - 1, on: 'failure', backoff };
}
