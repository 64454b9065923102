// A stage's paths: params filled in, patterns parsed, variables bound, implicit deps added.

import { type Report, shown, suggest } from '../diagnostic.ts';
import { type Binding, bindEntities } from '../entities.ts';
import { type Pattern, parsePattern } from '../pattern.ts';
import type { Path, SourceDocument } from '../source-document.ts';
import type { Scope } from '../template/evaluate.ts';
import { parseTemplate } from '../template/parse.ts';
import { checkReferences, type Known, referencedParams, referencedStages } from '../template/references.ts';
import { renderText } from '../template/render.ts';
import type { Json, StageId } from '../words.ts';
import type { DraftStage } from './draft.ts';

export interface FinishContext {
  readonly document: SourceDocument;
  readonly report: Report;
  readonly params: Readonly<Record<string, Json>>;
  readonly dialect: 'braces' | 'job';
}

export interface PlacedPath {
  readonly pattern: Pattern;
  readonly type: string | null;
  readonly at: Path;
  /** Params that the path was written with. */
  readonly params: readonly string[];
}

export type PlacedDep = PlacedPath & { readonly stage: StageId | null };
export type PlacedOut = PlacedPath & { readonly remote: string | null };

/** A draft whose paths are patterns; null in place of a path that was reported as wrong. */
export interface PlacedStage {
  readonly draft: DraftStage;
  readonly deps: readonly PlacedDep[];
  readonly outs: readonly PlacedOut[];
  /** False if a path had to be left out or is not known: then nothing further can be said about its entities. */
  readonly whole: boolean;
}

export function placeStage(draft: DraftStage, context: FinishContext): PlacedStage {
  const deps = draft.deps.map((dep) => withField(placePath(dep, context, draft), 'stage', dep.stage));
  const outs = draft.outs.map((out) => withField(placePath(out, context, draft), 'remote', out.remote));
  return {
    draft,
    deps: deps.filter((dep) => dep !== null),
    outs: outs.filter((out) => out !== null),
    whole: ![...deps, ...outs].includes(null) && draft.unknownInput === null,
  };
}

function withField<K extends string, V>(path: PlacedPath | null, key: K, value: V) {
  return path === null ? null : ({ ...path, [key]: value } as PlacedPath & Record<K, V>);
}

type Written = DraftStage['deps'][number] | DraftStage['outs'][number];

function placePath(
  { path, type, at }: Written,
  context: FinishContext,
  draft: DraftStage,
): PlacedPath | null {
  const filled = fillParams(path, at, context);
  if (filled === null) return null;
  const directory = type === 'directory' || draft.fanOut !== null;
  const parsed = parsePattern(directory && !filled.path.endsWith('/') ? `${filled.path}/` : filled.path);
  if (parsed.ok) return { pattern: parsed.pattern, type, at, params: filled.params };
  const { code, message, hint } = parsed;
  context.report({ severity: 'error', code, message, hint, span: context.document.valueSpan(at) });
  return null;
}

const PATH_SCOPE: Omit<Known, 'params'> = {
  deps: 0,
  outs: 0,
  entity: [],
  stages: [],
  config: false,
  names: [],
};

/** `out/{{params.model}}.txt`: a param may name a part of a path, but never lead out of it. */
function fillParams(path: string, at: Path, { document, report, params }: FinishContext) {
  if (!path.includes('{{')) return { path, params: [] };
  const template = parseTemplate(path, { variables: [], dialect: 'braces' });
  const problems = [
    ...template.errors,
    ...checkReferences(template, { ...PATH_SCOPE, params: Object.keys(params) }),
  ];
  for (const { code, message, hint, ...part } of problems) {
    report({ severity: 'error', code, message, hint, span: document.spanWithin(at, path, part) });
  }
  if (problems.length > 0) return null;
  const rendered = renderText(template, { params } as Scope);
  const unsafe = referencedParams(template).find((name) => leadsAway(String(params[name])));
  if (rendered.ok && unsafe === undefined)
    return { path: rendered.value, params: referencedParams(template) };
  report({
    severity: 'error',
    code: 'param-in-path',
    message: `the param '${shown(unsafe ?? '')}' cannot stand in a path: its value is ${JSON.stringify(params[unsafe ?? '']) ?? 'not text'}`,
    hint: 'a param in a path is plain text without braces, NUL or .. steps',
    span: document.valueSpan(at),
  });
  return null;
}

function leadsAway(value: string): boolean {
  return (
    value === '' || /[{}\0]/.test(value) || value.split('/').some((name) => name === '..' || name === '.')
  );
}

/** Adds a dep for every stage that a template refers to by `{{$.stage…}}` and that is not one already. */
export function addReferenced(
  stage: PlacedStage,
  all: ReadonlyMap<string, PlacedStage>,
  context: FinishContext,
): PlacedStage {
  const added: PlacedDep[] = [];
  for (const { text, at } of stage.draft.templates) {
    if (!text.includes('$.')) continue;
    const template = parseTemplate(text, { variables: [], dialect: context.dialect });
    for (const { stage: id, path } of referencedStages(template)) {
      const known = [...stage.deps, ...added].some((dep) => dep.stage === id);
      const referred = all.get(id);
      if (known || referred === undefined) continue;
      const out = referred.outs[0];
      if (id === stage.draft.id || out === undefined) {
        const isOwn = id === stage.draft.id;
        const message = isOwn
          ? 'a stage cannot refer to its own output'
          : `stage '${shown(id)}' has no output to refer to`;
        const span = context.document.spanWithin(at, text, path);
        context.report({
          severity: 'error',
          code: isOwn ? 'bad-reference' : 'no-output',
          message,
          hint: 'refer to a stage that makes a file',
          span,
        });
      } else added.push({ ...out, at, stage: id as StageId });
    }
  }
  return added.length === 0 ? stage : { ...stage, deps: [...stage.deps, ...added] };
}

/** Which entities the stage has. A stage that nothing makes takes its entities from what is found on disk. */
export function bindStage(stage: PlacedStage, { document, report }: FinishContext): Binding | null {
  const { draft, deps, outs } = stage;
  const variables = outs.flatMap(({ pattern }) => pattern.variables);
  if (draft.source || (draft.action.kind === 'none' && deps.length === 0)) {
    return { variables: [...new Set(variables)], driver: null, deps: deps.map(() => 'shared') };
  }
  const bound = bindEntities(
    deps.map(({ pattern }) => pattern.variables),
    outs.map(({ pattern }) => pattern.variables),
  );
  if (bound.ok) return checkName(stage, bound.binding, { document, report });
  const at = (bound.at.list === 'outs' ? outs : deps)[bound.at.index]?.at ?? draft.at;
  report({
    severity: 'error',
    code: bound.code,
    message: bound.message,
    hint: bound.hint,
    span: document.valueSpan(at),
  });
  return null;
}

/** `transcribe_{sample}` must speak of the stage's own variables (SEMANTICS 12). */
function checkName(
  { draft }: PlacedStage,
  binding: Binding,
  { document, report }: Pick<FinishContext, 'document' | 'report'>,
) {
  for (const [, name] of draft.id.matchAll(/\{([^{}]*)\}/g)) {
    if (binding.variables.includes(name!)) continue;
    report({
      severity: 'error',
      code: 'unknown-variable',
      message: `the stage's name uses {${shown(name!)}}, which none of its paths has`,
      hint:
        binding.variables.length === 0
          ? 'use it in the paths of deps and outs too'
          : suggest(name!, binding.variables),
      span: document.keySpan(draft.at),
    });
  }
  return binding;
}
