// Makes one state: fills in the command, runs it, puts its outputs in place.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, parse, relative, resolve } from 'node:path';
import { commandEnvironment } from '../../runner/environment.ts';
import { execute, type Outcome } from '../../runner/execute.ts';
import { tailOf } from '../../runner/log-tail.ts';
import { discardOutputs, type PreparedOut, placeOutputs, prepareOutputs } from '../../runner/outputs.ts';
import type { Supervisor } from '../../runner/supervisor.ts';
import { removeWorkDir, workDirOf } from '../../runner/work-dir.ts';
import type { HashBytes } from '../../schema/blake3.ts';
import type { OneOrMorePaths, Scope } from '../../schema/template/evaluate.ts';
import { parseTemplate, type Template } from '../../schema/template/parse.ts';
import { references } from '../../schema/template/references.ts';
import { renderText } from '../../schema/template/render.ts';
import { renderShell } from '../../schema/template/render-shell.ts';
import { type Json, unreachable } from '../../schema/words.ts';
import type { Action, Workflow } from '../../schema/workflow.ts';
import type { FoundState } from './find-states.ts';

export interface MakeContext {
  readonly workflow: Workflow;
  /** The workflow's directory. */
  readonly root: string;
  readonly workBase: string;
  readonly supervisor: Supervisor;
  readonly hash: HashBytes;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export type Made =
  | { readonly kind: 'made' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: string };

type Shell = Extract<Action, { kind: 'shell' }>;

export async function makeState(state: FoundState, action: Shell, context: MakeContext): Promise<Made> {
  const token = randomBytes(8).toString('hex');
  const workDir = workDirOf(context.workBase, token, context.hash);
  const template = parseTemplate(action.cmd, { variables: state.stage.variables, dialect: 'braces' });
  const outs = prepareOutputs(planOutputs(state, template, context.root), token);
  mkdirSync(workDir, { recursive: true });
  const cwd = state.stage.cwd === 'work' ? workDir : context.root;
  const filled = fillCommand(template, action, scopeOf(state, { outs, cwd, context }));
  if (!filled.ok) return failed(outs, filled.error);
  const outcome = await execute({
    supervisor: context.supervisor,
    command: { kind: 'shell', script: `${filled.script}\n` },
    cwd,
    env: commandEnvironment({
      host: context.env,
      stage: filled.env,
      secrets: {},
      root: context.root,
      workDir,
      workflow: context.workflow.name,
      stageId: state.stage.id,
      entity: state.entity,
      attempt: token,
    }),
    workDir,
    timeoutMs: state.stage.resources.timeoutMs,
    signal: context.signal,
  });
  const made = await conclude(outcome, outs, workDir);
  if (made.kind === 'made' && context.workflow.policy.cleanOnSuccess) removeWorkDir(workDir);
  return made;
}

/** A file whose path the command takes from us is made beside its place; any other is written where it belongs. */
function planOutputs(state: FoundState, template: Template, root: string) {
  const told = new Set(
    references(template).flatMap(({ root: name, keys }) => {
      if (name === 'output') return [0];
      return name === 'outs' && typeof keys[0] === 'number' ? [keys[0]] : [];
    }),
  );
  return state.outs.map((path, i) => {
    const made = told.has(i) && !path.endsWith('/') ? ('beside' as const) : ('in-place' as const);
    return { path: resolve(root, path), made };
  });
}

type Filled =
  | { readonly ok: true; readonly script: string; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly error: string };

function fillCommand(template: Template, action: Shell, scope: Scope): Filled {
  const script = renderShell(template, scope);
  if (!script.ok)
    return { ok: false, error: script.problems.map(({ message, hint }) => `${message}; ${hint}`).join('\n') };
  const env: Record<string, string> = {};
  for (const [name, text] of Object.entries(action.env)) {
    const value = renderText(
      parseTemplate(text, { variables: Object.keys(scope.entity), dialect: 'braces' }),
      scope,
    );
    if (!value.ok) return { ok: false, error: value.problems.map(({ message }) => message).join('\n') };
    env[name] = value.value;
  }
  return { ok: true, script: script.value, env };
}

interface Place {
  readonly outs: readonly PreparedOut[];
  readonly cwd: string;
  readonly context: MakeContext;
}

function scopeOf(state: FoundState, { outs, cwd, context }: Place): Scope {
  const here = (path: string) => relative(cwd, resolve(context.root, path)) || '.';
  const deps = state.inputs.map(({ collected, paths }) => (collected ? paths.map(here) : here(paths[0]!)));
  const outPaths = outs.map(({ writeTo }) => here(writeTo));
  return {
    params: context.workflow.params,
    entity: state.bindings,
    deps,
    outs: outPaths,
    stages: stagesOf(state, deps, context.root),
    names: namesOf(deps[0], outPaths[0], context.root),
  };
}

function namesOf(
  input: OneOrMorePaths | undefined,
  output: string | undefined,
  root: string,
): Scope['names'] {
  const single =
    typeof input === 'string' ? { input_stem: parse(input).name, input_dir: dirname(input) } : {};
  return {
    root,
    ...(input === undefined ? {} : { input, ...single }),
    ...(output === undefined ? {} : { output }),
  };
}

/** `{{$.stage…}}`: the paths are deps already; the content is read only if it is JSON. */
function stagesOf(state: FoundState, deps: readonly OneOrMorePaths[], root: string): Scope['stages'] {
  const entries = state.stage.deps.flatMap(({ stage }, i) => {
    if (stage === null) return [];
    const path = deps[i]!;
    const content =
      typeof path === 'string' ? readJson(resolve(root, state.inputs[i]!.paths[0]!)) : undefined;
    return [[stage, { path, ...(content === undefined ? {} : { content }) }] as const];
  });
  return Object.fromEntries(entries);
}

function readJson(path: string): Json | undefined {
  if (!path.endsWith('.json')) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json;
  } catch {
    return undefined;
  }
}

async function conclude(outcome: Outcome, outs: readonly PreparedOut[], workDir: string): Promise<Made> {
  switch (outcome.kind) {
    case 'cancelled':
      discardOutputs(outs);
      return { kind: 'cancelled' };
    case 'unstartable':
      return failed(outs, `could not start: ${outcome.reason}`);
    case 'timeout':
      return failed(outs, `timed out after ${outcome.seconds.toFixed(1)} s`);
    case 'exited': {
      if (outcome.exitCode !== 0) return failed(outs, told(`exit code ${outcome.exitCode}`, workDir));
      const placed = await placeOutputs(outs, async () => true);
      if (placed.kind === 'placed') return { kind: 'made' };
      if (placed.kind === 'missing')
        return failed(outs, told(`did not make ${placed.paths.join(', ')}`, workDir));
      return failed(
        outs,
        placed.kind === 'blocked' ? `could not place ${placed.path}: ${placed.reason}` : 'refused',
      );
    }
    default:
      return unreachable(outcome);
  }
}

function told(what: string, workDir: string): string {
  const said = tailOf(workDir, 'stderr', 2_000).trimEnd();
  return said === '' ? what : `${what}\n${said}`;
}

function failed(outs: readonly PreparedOut[], error: string): Made {
  discardOutputs(outs);
  return { kind: 'failed', error };
}
