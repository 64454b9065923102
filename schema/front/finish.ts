// From draft to normal form: what every front end's stages go through, and every mistake found on the way.

import { type Report, shown, suggest } from '../diagnostic.ts';
import type { Binding } from '../entities.ts';
import type { Path, SourceDocument } from '../source-document.ts';
import { parseTemplate } from '../template/parse.ts';
import { checkReferences, type Known, referencedParams, type SingleName } from '../template/references.ts';
import { LOCAL, type TargetName } from '../words.ts';
import type { Dep, Out, Stage, Workflow } from '../workflow.ts';
import { type DraftStage, type DraftWorkflow, targetName } from './draft.ts';
import { addReferenced, bindStage, type FinishContext, type PlacedStage, placeStage } from './stage-paths.ts';

export function finishWorkflow(draft: DraftWorkflow, document: SourceDocument, report: Report): Workflow {
  const dialect = draft.frontEnd === 'job' ? 'job' : 'braces';
  const context: FinishContext = { document, report, params: draft.params, dialect };
  checkIds(draft, context);
  const placed = draft.stages.map((stage) => placeStage(stage, context));
  const byId = new Map<string, PlacedStage>(placed.map((stage) => [stage.draft.id, stage]));
  const names: Names = {
    stages: [...byId.keys()],
    params: Object.keys(draft.params),
    targets: Object.keys(draft.targets),
    secrets: draft.secrets,
  };
  const stages = placed.map((stage) =>
    finishStage(addReferenced(stage, byId, context), byId, { ...context, names }),
  );
  const { paramsAt: _, ...workflow } = draft;
  return { ...workflow, stages };
}

interface Names {
  readonly stages: readonly string[];
  readonly params: readonly string[];
  readonly targets: readonly string[];
  readonly secrets: readonly string[];
}

interface StageContext extends FinishContext {
  readonly names: Names;
}

function finishStage(
  placed: PlacedStage,
  all: ReadonlyMap<string, PlacedStage>,
  context: StageContext,
): Stage {
  const { draft } = placed;
  const binding = (placed.whole ? bindStage(placed, context) : null) ?? NO_BINDING;
  checkNames(draft, context);
  checkFanOut(placed, binding, context);
  const used = checkTemplates(draft, placed, binding, context);
  const target = knownTarget(draft.target, [...draft.at, 'target'], context);
  const { at: _, afterAt: __, templates: ___, unknownInput: ____, source, ...rest } = draft;
  return {
    ...rest,
    kind: source ? 'source' : draft.outs.length === 0 ? 'action' : 'transform',
    target,
    deps: placed.deps.map(
      (dep, i): Dep => ({
        path: dep.pattern.text,
        type: dep.type,
        binding: binding.deps[i] ?? 'shared',
        target: targetOfDep(dep.stage === null ? undefined : all.get(dep.stage), target),
        stage: dep.stage,
      }),
    ),
    outs: placed.outs.map(
      (out): Out => ({
        path: out.pattern.text,
        type: out.type,
        remote:
          out.remote === null ? null : knownTarget(out.remote, [...out.at.slice(0, -1), 'remote'], context),
      }),
    ),
    variables: binding.variables,
    driver: binding.driver,
    params: [...new Set([...draft.params.map(({ name }) => name), ...used])],
  };
}

const NO_BINDING: Binding = { variables: [], driver: null, deps: [] };

/** A dep that names a stage is where that stage put it; any other is on the machine that reads it. */
function targetOfDep(referred: PlacedStage | undefined, own: TargetName): TargetName {
  if (referred === undefined) return own;
  return targetName(referred.outs[0]?.remote ?? referred.draft.target);
}

function knownTarget(
  written: string | null,
  at: Path,
  { names, document, report }: StageContext,
): TargetName {
  const target = targetName(written);
  if (target !== LOCAL && !names.targets.includes(target)) {
    report({
      severity: 'error',
      code: 'unknown-target',
      message: `unknown target '${shown(target)}'`,
      hint: `${suggest(target, [...names.targets, 'localhost'])} — targets are defined under 'targets:'`,
      span: document.valueSpan(at),
    });
  }
  return target;
}

function checkIds({ stages }: DraftWorkflow, { document, report }: FinishContext): void {
  const seen = new Set<string>();
  for (const { id, at } of stages) {
    if (seen.has(id)) {
      const message = `two stages are called '${shown(id)}'`;
      report({
        severity: 'error',
        code: 'duplicate-stage',
        message,
        hint: 'give one of them another id',
        span: document.valueSpan([...at, 'id']),
      });
    }
    seen.add(id);
  }
}

function checkNames(draft: DraftStage, { names, document, report }: StageContext): void {
  const check = (kind: string, name: string, known: readonly string[], at: Path) => {
    if (known.includes(name)) return;
    const span = document.valueSpan(at);
    report({
      severity: 'error',
      code: `unknown-${kind}`,
      message: `unknown ${kind} '${shown(name)}'`,
      hint: suggest(name, known),
      span,
    });
  };
  for (const { name, at } of draft.params) check('param', name, names.params, at);
  for (const [i, name] of draft.secrets.entries())
    check('secret', name, names.secrets, [...draft.at, 'secrets', i]);
  if (draft.unknownInput !== null) check('stage', draft.unknownInput, names.stages, [...draft.at, 'input']);
  for (const [i, id] of draft.after.entries()) check('stage', id, names.stages, [...draft.afterAt, i]);
}

function checkFanOut(
  { draft, deps, outs, whole }: PlacedStage,
  binding: Binding,
  { document, report }: StageContext,
): void {
  const { fanOut } = draft;
  if (fanOut === null || !whole) return;
  const refuse = (message: string, hint: string, at: Path) =>
    report({ severity: 'error', code: 'bad-parallel', message, hint, span: document.keySpan(at) });
  const at = [...draft.at, 'parallel'];
  if (deps.length === 0)
    refuse('parallel has no directory to take files from', 'list the directory first under deps', at);
  if (outs.length === 0)
    refuse('parallel has no directory to put files into', 'list the directory first under outs', at);
  if (binding.variables.length > 0) {
    refuse(
      'parallel and {variables} both split a stage',
      'use one of the two: {variables} in paths, or parallel',
      at,
    );
  }
  if (fanOut.strategy === 'chunked' && fanOut.chunkSize === null)
    refuse("chunked needs 'chunk_size'", 'add chunk_size: 100', at);
  if (fanOut.strategy === 'per_file' && fanOut.chunkSize !== null) {
    refuse("'chunk_size' has no meaning with per_file", 'use strategy: chunked, or remove chunk_size', [
      ...at,
      'chunk_size',
    ]);
  }
}

/** The params that the stage's texts and paths use; every name they use is checked. */
function checkTemplates(
  draft: DraftStage,
  placed: PlacedStage,
  binding: Binding,
  context: StageContext,
): string[] {
  const { names, dialect, document, report } = context;
  const known: Known = {
    params: names.params,
    deps: draft.deps.length,
    outs: draft.outs.length,
    entity: binding.variables,
    stages: names.stages,
    config: dialect === 'job',
    names: singleNames(draft),
  };
  const used = [...placed.deps, ...placed.outs].flatMap(({ params }) => params);
  for (const { text, at } of draft.templates) {
    if (!text.includes('{') && !text.includes('$')) continue;
    const template = parseTemplate(text, { variables: binding.variables, dialect });
    for (const { code, message, hint, ...part } of [
      ...template.errors,
      ...checkReferences(template, known),
    ]) {
      const told = `${message} in stage '${shown(draft.id)}'`;
      report({
        severity: 'error',
        code,
        message: told,
        hint,
        span: document.spanWithin(at, text, part),
      });
    }
    used.push(...referencedParams(template));
  }
  return used;
}

function singleNames({ fanOut, deps, outs }: DraftStage): SingleName[] {
  const names: SingleName[] = ['root'];
  if (deps.length > 0) names.push('input', 'input_stem', 'input_dir');
  if (outs.length > 0) names.push('output');
  if (fanOut?.strategy === 'chunked') names.push('inputs', 'input_list');
  return names;
}
