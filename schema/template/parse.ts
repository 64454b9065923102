// Splits a template into text and placeholders; what merely looks like one (`{a,b}`, `${x}`, awk's braces) stays text.

import { type Span, shown } from '../diagnostic.ts';
import { type Expression, parseExpression } from './expression.ts';
import type { TemplateProblem } from './problem.ts';

export interface TemplateOptions {
  /** The stage's variables: `{sample}` is a placeholder only if `sample` is one of them. */
  readonly variables: readonly string[];
  /** A job's templates know `${config.x}` besides the braces. */
  readonly dialect: 'braces' | 'job';
}

export interface Template {
  readonly source: string;
  readonly parts: readonly Part[];
  readonly errors: readonly TemplateProblem[];
}

export type Part = TextPart | Placeholder;

export interface TextPart extends Span {
  readonly kind: 'text';
  readonly text: string;
}

export interface Placeholder extends Span {
  readonly kind: 'placeholder';
  readonly source: string;
  readonly expression: Expression;
  /** `| raw`: goes into a command as it is, unquoted. */
  readonly raw: boolean;
}

/** What starts at some offset: a placeholder, or a mistake that reaches as far as `end`. */
type Found =
  | Placeholder
  | { readonly kind: 'mistake'; readonly end: number; readonly error: TemplateProblem };

export function parseTemplate(source: string, options: TemplateOptions): Template {
  const parts: Part[] = [];
  const errors: TemplateProblem[] = [];
  const opening = /[{$]/g;
  let textFrom = 0;
  for (let match = opening.exec(source); match !== null; match = opening.exec(source)) {
    const found = placeholderAt(source, match.index, options);
    if (found === null) continue;
    opening.lastIndex = found.end;
    if (found.kind === 'mistake') {
      errors.push(found.error);
      continue;
    }
    pushText(parts, source, { start: textFrom, end: found.start });
    parts.push(found);
    textFrom = found.end;
  }
  pushText(parts, source, { start: textFrom, end: source.length });
  return { source, parts, errors };
}

function pushText(parts: Part[], source: string, { start, end }: Span): void {
  if (start < end) parts.push({ kind: 'text', text: source.slice(start, end), start, end });
}

function placeholderAt(source: string, at: number, options: TemplateOptions): Found | null {
  if (source.startsWith('{{', at)) return doubleBraces(source, at);
  if (options.dialect === 'job' && source.startsWith('${config.', at)) return jobConfig(source, at);
  if (source[at] === '{' && source[at - 1] !== '$') return singleBraces(source, at, options.variables);
  return null;
}

function doubleBraces(source: string, start: number): Found {
  const { expression, end: stopped, problem } = parseExpression(source, start + 2);
  const close = source.indexOf('}}', problem === null ? stopped : start + 2);
  if (close === -1) return mistake(unclosed(start, '}}'), source.length);
  const end = close + 2;
  if (problem !== null) {
    // An expression that ends too early has no text of its own to point at.
    const span = problem.start < close ? { end: close } : { start, end };
    return mistake({ ...problem, ...span }, end);
  }
  const rest = source.slice(stopped, close);
  const filter = /^\s*(?:\|\s*([\w-]+)\s*)?$/.exec(rest);
  if (filter === null) return mistake(junk(rest, stopped), end);
  if (filter[1] !== undefined && filter[1] !== 'raw')
    return mistake(unknownFilter(filter[1], stopped, close), end);
  return placeholder(source, { start, end }, expression, filter[1] === 'raw');
}

function jobConfig(source: string, start: number): Found {
  const { expression, end: stopped, problem } = parseExpression(source, start + 2);
  if (problem === null && expression.kind === 'path' && source[stopped] === '}') {
    return placeholder(source, { start, end: stopped + 1 }, expression, false);
  }
  const close = source.indexOf('}', start);
  if (close === -1) return mistake(unclosed(start, '}'), source.length);
  const hint = 'write a dotted path, such as ${config.data.path}';
  const message = `'${shown(source.slice(start, close + 1))}' is not a config path`;
  return mistake({ code: 'bad-expression', message, hint, start, end: close + 1 }, close + 1);
}

function singleBraces(source: string, start: number, variables: readonly string[]): Found | null {
  const name = variables.find((variable) => source.startsWith(`{${variable}}`, start));
  if (name === undefined) return null;
  const end = start + name.length + 2;
  const inner = { start: start + 1, end: end - 1 };
  const path: Expression = { kind: 'path', root: 'entity', keys: [name], source: `{${name}}`, ...inner };
  return placeholder(source, { start, end }, path, false);
}

function placeholder(source: string, span: Span, expression: Expression, raw: boolean): Placeholder {
  return { kind: 'placeholder', source: source.slice(span.start, span.end), expression, raw, ...span };
}

function mistake(error: TemplateProblem, end: number): Found {
  return { kind: 'mistake', end, error };
}

function unclosed(start: number, closing: string): TemplateProblem {
  const hint = `add '${closing}', or write {{ '{{' }} if two braces are meant`;
  return {
    code: 'unclosed-placeholder',
    message: 'a placeholder is not closed',
    hint,
    start,
    end: start + 2,
  };
}

function junk(rest: string, start: number): TemplateProblem {
  const lead = rest.length - rest.trimStart().length;
  const message = `unexpected '${shown(rest.trim())}' in a placeholder`;
  const hint =
    'a placeholder holds a path, a literal, a comparison, && || ! or parentheses; compute anything else in the command';
  return { code: 'bad-expression', message, hint, start: start + lead, end: start + rest.trimEnd().length };
}

function unknownFilter(name: string, start: number, end: number): TemplateProblem {
  const hint = "the only filter is 'raw', which leaves out the quoting";
  return { code: 'unknown-filter', message: `unknown filter '${name}'`, hint, start, end };
}
