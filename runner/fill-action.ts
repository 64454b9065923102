// An action with its templates filled in, ready to run; or what is wrong with one of them.

import { resolve } from 'node:path';
import type { Scope } from '../schema/template/evaluate.ts';
import { parseTemplate } from '../schema/template/parse.ts';
import type { Outcome } from '../schema/template/problem.ts';
import { renderText } from '../schema/template/render.ts';
import { renderShell } from '../schema/template/render-shell.ts';
import type { Action } from '../schema/workflow.ts';
import type { Command } from './launch-script.ts';

export type Filled =
  | {
      readonly ok: true;
      readonly command: Command;
      readonly env: Readonly<Record<string, string>>;
      /** Where the action itself says to run; null for the stage's own place. */
      readonly cwd: string | null;
    }
  | { readonly ok: false; readonly error: string };

type Of<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;
type Dialect = 'braces' | 'job';

export function fillShell(action: Of<'shell'>, scope: Scope): Filled {
  const script = renderShell(parsed(action.cmd, scope, 'braces'), scope);
  if (!script.ok) return refused(script);
  const env = fillEnvironment(action.env, scope, 'braces');
  if (!env.ok) return env;
  return { ok: true, command: { kind: 'shell', script: `${script.value}\n` }, env: env.env, cwd: null };
}

export function fillProgram(action: Of<'program'>, scope: Scope, root: string): Filled {
  const texts = [action.program, ...action.args, action.workingDir ?? ''].map((text) =>
    renderText(parsed(text, scope, 'job'), scope),
  );
  const bad = texts.find((text) => !text.ok);
  if (bad !== undefined && !bad.ok) return refused(bad);
  const [program, ...rest] = texts.map((text) => (text.ok ? text.value : ''));
  const workingDir = rest.pop()!;
  const env = fillEnvironment(action.env, scope, 'job');
  if (!env.ok) return env;
  const cwd = workingDir === '' ? null : resolve(root, workingDir);
  return { ok: true, command: { kind: 'program', program: program!, args: rest }, env: env.env, cwd };
}

type Environment =
  | { readonly ok: true; readonly env: Record<string, string> }
  | Extract<Filled, { ok: false }>;

function fillEnvironment(
  written: Readonly<Record<string, string>>,
  scope: Scope,
  dialect: Dialect,
): Environment {
  const env: Record<string, string> = {};
  for (const [name, text] of Object.entries(written)) {
    const value = renderText(parsed(text, scope, dialect), scope);
    if (!value.ok) return refused(value);
    env[name] = value.value;
  }
  return { ok: true, env };
}

function parsed(text: string, { entity }: Scope, dialect: Dialect) {
  return parseTemplate(text, { variables: Object.keys(entity), dialect });
}

function refused({ problems }: Extract<Outcome<unknown>, { ok: false }>): Extract<Filled, { ok: false }> {
  return { ok: false, error: problems.map(({ message, hint }) => `${message}; ${hint}`).join('\n') };
}
