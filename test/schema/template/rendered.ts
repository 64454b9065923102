// Short ways to fill a template in a test, with every name of the language given some value.

import type { Scope } from '../../../schema/template/evaluate.ts';
import { parseTemplate, type Template } from '../../../schema/template/parse.ts';
import type { Outcome, TemplateProblem } from '../../../schema/template/problem.ts';
import { renderShell } from '../../../schema/template/render-shell.ts';

export const SCOPE: Scope = {
  params: { v: 'x', n: 7, list: [1, 'b'], nested: { deep: [{ key: 'found' }] }, yes: true, none: null },
  entity: { sample: 'lecture-01', feed: 'news' },
  deps: ['in/a.wav', ['in/1.txt', 'in/2.txt']],
  outs: ['out/a.json'],
  stages: { scores: { path: 'scores/1.json', content: { score: 8, title: 'He said "no"' } }, bare: {} },
  names: { input: 'in/a.wav', output: 'out/a.json', input_stem: 'a', input_dir: 'in', inputs: ['a', 'b c'] },
};

export function parsed(source: string, variables: readonly string[] = ['sample', 'feed']): Template {
  return parseTemplate(source, { variables, dialect: 'braces' });
}

export function withParams(params: Scope['params']): Scope {
  return { ...SCOPE, params };
}

/** A command with `{{params.v}}` in it, filled with the value. */
export function command(source: string, v: Scope['params'][string] = 'x'): Outcome<string> {
  return renderShell(parsed(source), withParams({ v }));
}

/** The same for a value that is a path. */
export function commandWithPath(source: string, input: string | readonly string[]): Outcome<string> {
  return renderShell(parsed(source), { ...SCOPE, names: { input, inputs: input } });
}

export function codesOf(outcome: Outcome<unknown>): readonly string[] {
  return outcome.ok ? [] : outcome.problems.map(({ code }) => code);
}

/** The template's own text at which a problem points. */
export function pointedAt(source: string, problem: TemplateProblem | undefined): string {
  return problem === undefined ? '(no problem)' : source.slice(problem.start, problem.end);
}
