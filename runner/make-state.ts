// Makes a state, or a chunk of a fan-out's states at once: fills in the action, runs it, puts the outputs in place.

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { HashBytes } from '../schema/blake3.ts';
import type { FailureOutcome } from '../schema/retry.ts';
import { unreachable } from '../schema/words.ts';
import type { Action, Stage, Workflow } from '../schema/workflow.ts';
import { commandEnvironment } from './environment.ts';
import { execute, type Outcome } from './execute.ts';
import { type Filled, fillProgram, fillShell } from './fill-action.ts';
import { fullDisk, isFullDiskError } from './full-disk.ts';
import { checkBeforePlacing } from './hash-outs.ts';
import { collectLeftFiles } from './left-files.ts';
import type { LogBook } from './log-book.ts';
import { tailOf } from './log-tail.ts';
import { type Mask, maskOf } from './mask.ts';
import type { NodeCommand, NodeContext } from './nodes/node.ts';
import { DEFAULT_LIMITS } from './nodes/result.ts';
import { runNode } from './nodes/run-node.ts';
import { discardOutputs, type PreparedOut, placeOutputs, prepareOutputs } from './outputs.ts';
import { planOutputs } from './plan-outputs.ts';
import type { StateFiles } from './state-files.ts';
import { type ScopePlace, scopeOf } from './state-scope.ts';
import type { Supervisor } from './supervisor.ts';
import { removeWorkDir, workDirOf } from './work-dir.ts';

export interface MakeContext {
  readonly workflow: Workflow;
  /** The workflow's directory. */
  readonly root: string;
  readonly workBase: string;
  readonly supervisor: Supervisor;
  readonly hash: HashBytes;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly http: NodeContext['http'];
  readonly signal: AbortSignal;
  readonly secretOf: (name: string) => string | undefined;
  /** Null where work directories are enough. */
  readonly logs: LogBook | null;
  /** Asked last, before anything is renamed: whether the lease is still held. */
  readonly isMine: () => Promise<boolean>;
}

export type Made =
  | { readonly kind: 'made'; readonly seconds: number }
  | { readonly kind: 'skipped'; readonly because: string }
  | { readonly kind: 'cancelled' }
  /** `directory` is where there is no room; `said` is the last line of the command, if it had one. */
  | { readonly kind: 'disk-full'; readonly directory: string; readonly said: string }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly outcome: FailureOutcome;
      readonly logTail: string;
      readonly seconds: number;
    };

/** All of one stage; more than one only for `parallel: chunked`. `token` names the attempt. */
export async function makeStates(
  states: readonly StateFiles[],
  token: number,
  context: MakeContext,
): Promise<Made> {
  try {
    return await makeInPlace(states, token, context);
  } catch (error) {
    if (!isFullDiskError(error)) throw error;
    const { path, message } = error as NodeJS.ErrnoException;
    return { kind: 'disk-full', directory: path ?? context.root, said: message };
  }
}

async function makeInPlace(
  states: readonly StateFiles[],
  token: number,
  context: MakeContext,
): Promise<Made> {
  const begun = performance.now();
  const { stage, entity } = states[0]!;
  const workDir = workDirFor(context, stage.id, entity);
  makeEmpty(workDir);
  const outs = prepareOutputs(
    states.flatMap((files) => planOutputs(files)),
    `t${token}`,
  );
  const isFanned = stage.fanOut !== null;
  const cwd = (stage.cwd ?? (isFanned ? 'work' : 'project')) === 'work' ? workDir : context.root;
  const secrets = secretsOf(stage, context);
  const mask = maskOf(Object.values(secrets));
  const attempt: Attempt = { states, token, workDir, cwd, outs, context, begun, secrets, mask };
  const settled = context.supervisor.making(
    outs.filter(({ made }) => made === 'beside').map(({ writeTo }) => writeTo),
  );
  const made = unlessFull(attempt, await act(attempt));
  context.logs?.keep(titleOf(attempt), workDir);
  if (made.kind !== 'made') discardOutputs(outs);
  else if (context.workflow.policy.cleanOnSuccess) removeWorkDir(workDir);
  settled();
  return made;
}

/** Asked while what it wrote is still there. */
function unlessFull({ outs, workDir }: Attempt, made: Made): Made {
  if (made.kind !== 'failed') return made;
  const places = [...outs.map(({ writeTo }) => writeTo), workDir];
  const directory = fullDisk(places, `${made.error}\n${made.logTail}`);
  const said = made.logTail.split('\n').at(-1)!;
  return directory === null ? made : { kind: 'disk-full', directory, said: said === '' ? made.error : said };
}

/** There is something in its way only after an attempt that failed, or was of another time. */
function makeEmpty(workDir: string): void {
  if (mkdirSync(workDir, { recursive: true }) !== undefined) return;
  removeWorkDir(workDir);
  mkdirSync(workDir, { recursive: true });
}

/** Found again from the state alone, so that `debug` needs no index; an attempt starts with an empty one. */
export function workDirFor(
  { workBase, workflow, hash }: Pick<MakeContext, 'workBase' | 'workflow' | 'hash'>,
  stage: string,
  entity: string,
): string {
  return workDirOf(workBase, JSON.stringify([workflow.name, stage, entity]), hash);
}

interface Attempt {
  readonly states: readonly StateFiles[];
  readonly token: number;
  readonly workDir: string;
  readonly cwd: string;
  readonly outs: readonly PreparedOut[];
  readonly context: MakeContext;
  readonly begun: number;
  readonly secrets: Readonly<Record<string, string>>;
  /** Null if it has no secrets. */
  readonly mask: Mask | null;
}

/** It was looked at before whether all are there. */
function secretsOf({ secrets }: Stage, { secretOf }: MakeContext): Record<string, string> {
  return Object.fromEntries(secrets.map((name) => [name, secretOf(name) ?? '']));
}

function titleOf({ states, token, context }: Attempt): string {
  const { stage, entity } = states[0]!;
  return `${new Date().toISOString()} ${context.workflow.name}/${stage.id}@${entity} attempt ${token}`;
}

function act(attempt: Attempt): Promise<Made> {
  const { action } = attempt.states[0]!.stage;
  const scope = scopeOf(attempt.states, placeOf(attempt));
  switch (action.kind) {
    case 'shell':
      return runCommand(attempt, fillShell(action, scope));
    case 'program':
      return runCommand(attempt, fillProgram(action, scope, attempt.context.root));
    case 'node':
      return runNodeOf(attempt, action);
    case 'check':
    case 'none':
      return Promise.resolve(
        failure(attempt, { kind: 'error' }, `nothing says how to make it (${action.kind})`),
      );
    default:
      return unreachable(action);
  }
}

async function runCommand(attempt: Attempt, filled: Filled): Promise<Made> {
  if (!filled.ok) return failure(attempt, { kind: 'error' }, filled.error);
  const { command, env, cwd } = filled;
  return conclude(attempt, await start(attempt, { command, env }, cwd ?? attempt.cwd));
}

function start(attempt: Attempt, { command, env, stdin }: NodeCommand, cwd: string): Promise<Outcome> {
  const { context, workDir, states, token } = attempt;
  const { stage, entity } = states[0]!;
  return execute({
    supervisor: context.supervisor,
    command,
    cwd,
    env: commandEnvironment({
      host: context.env,
      stage: env,
      secrets: attempt.secrets,
      root: context.root,
      workDir,
      workflow: context.workflow.name,
      stageId: stage.id,
      entity,
      attempt: String(token),
    }),
    workDir,
    timeoutMs: stage.resources.timeoutMs,
    signal: context.signal,
    mask: attempt.mask,
    ...(stdin === undefined ? {} : { stdin }),
  });
}

async function runNodeOf(attempt: Attempt, action: Extract<Action, { kind: 'node' }>): Promise<Made> {
  const { context, outs, workDir, states } = attempt;
  const agent = context.env.SLUICE_AGENT;
  const result = await runNode(action.node, action.whenTrue, {
    scope: scopeOf(states, { ...placeOf(attempt), cwd: context.root }),
    root: context.root,
    out: outs[0]?.writeTo ?? resolve(workDir, 'out'),
    signal: context.signal,
    timeoutMs: states[0]!.stage.resources.timeoutMs,
    execute: async (request) => ({ outcome: await start(attempt, request, context.root), workDir }),
    agentCommand: agent === undefined || agent === '' ? null : agent,
    // A variable may hold a webhook as well.
    secret: (name) => attempt.secrets[name] ?? context.env[name],
    http: context.http,
    limits: DEFAULT_LIMITS,
  });
  switch (result.kind) {
    case 'made':
      return place(attempt);
    case 'skipped':
    case 'cancelled':
      return result;
    case 'failed':
      // What cannot go well later must not be tried again as if it could: exit code 2 is retried by `failure` only.
      return failure(
        attempt,
        result.outcome ?? (result.transient ? { kind: 'error' } : { kind: 'exit', code: 2 }),
        result.error,
      );
    default:
      return unreachable(result);
  }
}

function conclude(attempt: Attempt, outcome: Outcome): Promise<Made> | Made {
  switch (outcome.kind) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'unstartable':
      return failure(attempt, { kind: 'error' }, `could not start: ${outcome.reason}`);
    case 'timeout':
      return failure(attempt, { kind: 'timeout' }, `timed out after ${outcome.seconds.toFixed(1)} s`);
    case 'exited': {
      const { exitCode, signal } = outcome;
      if (exitCode === 0) return place(attempt);
      const how: FailureOutcome =
        signal === null ? { kind: 'exit', code: exitCode } : { kind: 'signal', signal };
      return failure(attempt, how, explainExit(exitCode, signal));
    }
    default:
      return unreachable(outcome);
  }
}

function explainExit(exitCode: number, signal: string | null): string {
  const memory = signal === 'SIGKILL' ? ', by hand or because memory ran out' : '';
  if (signal !== null) return `killed by ${signal} (exit code ${exitCode})${memory}`;
  if (exitCode === 127) return 'exit code 127: a command was not found; check its name and PATH';
  if (exitCode === 126) return 'exit code 126: a command is not executable; check its permissions';
  return `exit code ${exitCode}`;
}

async function place(attempt: Attempt): Promise<Made> {
  const { outs, states, workDir, context } = attempt;
  if (states[0]!.stage.fanOut !== null) collectLeftFiles(workDir, outs);
  const wrong = checkBeforePlacing(states, outs, context);
  if (wrong !== null) return failure(attempt, { kind: 'exit', code: 0 }, wrong);
  const placed = await placeOutputs(outs, context.isMine);
  switch (placed.kind) {
    case 'placed':
      return { kind: 'made', seconds: secondsOf(attempt) };
    case 'missing':
      return failure(attempt, { kind: 'exit', code: 0 }, `did not make ${placed.paths.join(', ')}`);
    case 'refused':
      return { kind: 'cancelled' };
    case 'blocked':
      return failure(attempt, { kind: 'error' }, `could not place ${placed.path}: ${placed.reason}`);
    default:
      return unreachable(placed);
  }
}

function failure(attempt: Attempt, outcome: FailureOutcome, error: string): Made {
  const logTail = tailOf(attempt.workDir, 'stderr', 4_000).trimEnd();
  return {
    kind: 'failed',
    error: attempt.mask?.text(error) ?? error,
    outcome,
    logTail,
    seconds: secondsOf(attempt),
  };
}

function secondsOf({ begun }: Attempt): number {
  return Math.round(performance.now() - begun) / 1_000;
}

function placeOf({ outs, cwd, workDir, context }: Attempt): ScopePlace {
  return { outs, cwd, workDir, root: context.root, params: context.workflow.params };
}
