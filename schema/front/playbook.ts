// The playbook front end: `stages:` as a map, deps and outs, DVC-like.

import type { Path } from '../source-document.ts';
import type { StageId } from '../words.ts';
import {
  type Action,
  DEFAULT_POLICY,
  DEFAULT_WATCH,
  type FanOut,
  NO_RETRY,
  type RetryRule,
} from '../workflow.ts';
import { expandCompliance } from './compliance.ts';
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
import type { Playbook, PlaybookStage } from './playbook-shape.ts';

export function draftPlaybook(file: Playbook, defaultName: string): DraftWorkflow {
  const stages = Object.entries(file.stages).map(([id, stage]) => draftStage(id, stage));
  return {
    name: file.name ?? defaultName,
    version: '1.0',
    description: file.description ?? null,
    frontEnd: 'playbook',
    params: file.params ?? {},
    paramsAt: ['params'],
    secrets: file.secrets ?? [],
    targets: toTargets(file.targets),
    stages: expandCompliance(file.compliance ?? {}, stages),
    policy: toPolicy(file.policy, DEFAULT_POLICY),
    watch: toWatch(file.watch, DEFAULT_WATCH),
    schedule: null,
    jobDependencies: [],
    maxConcurrent: null,
  };
}

function draftStage(id: string, stage: PlaybookStage): DraftStage {
  const at: Path = ['stages', id];
  return {
    ...emptyStage(id, at),
    ...runningFields(stage),
    description: stage.description ?? null,
    action: toAction(stage),
    deps: (stage.deps ?? []).map((dep, i) => ({ ...toPath(dep, [...at, 'deps', i]), stage: null })),
    outs: (stage.outs ?? []).map((out, i) => ({
      ...toPath(out, [...at, 'outs', i]),
      remote: (typeof out === 'string' ? undefined : out.remote) ?? null,
    })),
    params: (stage.params ?? []).map((name, i) => ({ name, at: [...at, 'params', i] })),
    templates: [
      ...(stage.cmd === undefined ? [] : [{ text: stage.cmd, at: [...at, 'cmd'] }]),
      ...Object.entries(stage.env ?? {}).map(([name, text]) => ({
        text: String(text),
        at: [...at, 'env', name],
      })),
    ],
    after: (stage.after ?? []) as StageId[],
    fanOut: toFanOut(stage.parallel),
    retry: toRetry(stage.retry),
    gate: stage.gate ?? false,
  };
}

function toAction(stage: PlaybookStage): Action {
  if (stage.cmd === undefined) return { kind: 'none' };
  return { kind: 'shell', cmd: stage.cmd, shell: stage.shell ?? 'rash', env: textEnvironment(stage.env) };
}

function toPath(written: string | { readonly path: string; readonly type?: string | undefined }, at: Path) {
  if (typeof written === 'string') return { path: written, type: null, at };
  return { path: written.path, type: written.type ?? null, at: [...at, 'path'] };
}

function toFanOut(written: PlaybookStage['parallel']): FanOut | null {
  if (written === undefined) return null;
  return {
    strategy: written.strategy,
    glob: written.glob ?? null,
    maxWorkers: written.max_workers ?? null,
    chunkSize: written.chunk_size ?? null,
    ext: written.ext ?? null,
  };
}

/** Asking for retries without saying when means after any failure. */
function toRetry(written: PlaybookStage['retry']): RetryRule {
  if (written === undefined) return NO_RETRY;
  const policy = written.policy ?? 'on_failure';
  return {
    retries: policy === 'never' ? 0 : written.limit,
    on: policy.replace('on_', '') as RetryRule['on'],
    backoff: {
      kind: 'exponential',
      initialMs: toMs(written.backoff?.initial) ?? 1_000,
      factor: written.backoff?.factor ?? 2,
      maxMs: toMs(written.backoff?.max) ?? 300_000,
    },
  };
}
