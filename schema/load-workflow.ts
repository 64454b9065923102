// Text in, normal form out: reads a workflow file of any front end, or says everything that is wrong with it.

import { buildDag, type Dag, type DagProblem } from './dag.ts';
import { type Diagnostic, nearest, type Report, shown } from './diagnostic.ts';
import { checkWorkflow } from './front/check-workflow.ts';
import type { Rest } from './front/damage.ts';
import type { DraftWorkflow } from './front/draft.ts';
import { finishWorkflow } from './front/finish.ts';
import { draftJob, readSettings } from './front/job.ts';
import { jobShape, settingsShape } from './front/job-shape.ts';
import { draftPipeline } from './front/pipeline.ts';
import { pipelineShape } from './front/pipeline-shape.ts';
import { draftPlaybook } from './front/playbook.ts';
import { playbookShape } from './front/playbook-shape.ts';
import { readShape } from './front/shape-errors.ts';
import { locateIn } from './path-form.ts';
import { readDocument, type SourceDocument } from './source-document.ts';
import { type Json, type StageId, unreachable } from './words.ts';
import type { Settings, Workflow } from './workflow.ts';

export interface LoadOptions {
  /** The workflow's name if the file gives none: the file's stem. */
  readonly name: string;
  /** The directory of the workflow file, absolute, if it is known. */
  readonly root: string | null;
  /** `--set`: values that stand in for params of the file. */
  readonly set?: Readonly<Record<string, Json>>;
}

export type Loaded =
  | {
      readonly kind: 'workflow';
      readonly workflow: Workflow;
      readonly dag: Dag;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly kind: 'settings'; readonly settings: Settings; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'invalid'; readonly diagnostics: readonly Diagnostic[] };

export function loadWorkflow(text: string, options: LoadOptions): Loaded {
  const diagnostics: Diagnostic[] = [];
  const report: Report = (diagnostic) => diagnostics.push(diagnostic);
  const document = readDocument(text, report);
  const read = document && readFrontEnd(document, options, report);
  if (!document || !read) return invalid(diagnostics);
  if (read.kind === 'settings') return isFit(diagnostics) ? { ...read, diagnostics } : invalid(diagnostics);
  const news: Report = (diagnostic) => read.isNews(diagnostic) && report(diagnostic);
  const draft = override(read.draft, options.set ?? {});
  const workflow = finishWorkflow(draft, document, news);
  const { dag, problems } = buildDag(workflow.stages, locateIn(workflow, options.root));
  const places = new Map(draft.stages.map((stage) => [stage.id, stage] as const));
  for (const problem of problems) news(tell(problem, document, places));
  checkWorkflow({ workflow, draft, document, root: options.root, report: news });
  if (!isFit(diagnostics)) return invalid(diagnostics);
  return { kind: 'workflow', workflow, dag, diagnostics: inOrder(diagnostics) };
}

function isFit(diagnostics: readonly Diagnostic[]): boolean {
  return !diagnostics.some(({ severity }) => severity === 'error');
}

function invalid(diagnostics: readonly Diagnostic[]): Loaded {
  return { kind: 'invalid', diagnostics: inOrder(diagnostics) };
}

function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.span.start - b.span.start);
}

type Read =
  | { readonly kind: 'draft'; readonly draft: DraftWorkflow; readonly isNews: Rest<unknown>['isNews'] }
  | { readonly kind: 'settings'; readonly settings: Settings };

export type FrontEnd = 'playbook' | 'pipeline' | 'job' | 'settings';

function readFrontEnd(document: SourceDocument, { name }: LoadOptions, report: Report): Read | null {
  const frontEnd = detect(document, report);
  switch (frontEnd) {
    case null:
      return null;
    case 'playbook': {
      const read = readShape(playbookShape, document, report);
      return read && { kind: 'draft', draft: draftPlaybook(read.file, name), isNews: read.isNews };
    }
    case 'pipeline': {
      const read = readShape(pipelineShape, document, report);
      return read && { kind: 'draft', draft: draftPipeline(read.file, name), isNews: read.isNews };
    }
    case 'job': {
      const read = readShape(jobShape, document, report);
      return read && { kind: 'draft', draft: draftJob(read.file, name), isNews: read.isNews };
    }
    case 'settings': {
      const read = readShape(settingsShape, document, report);
      return read && { kind: 'settings', settings: readSettings(read.file) };
    }
    default:
      return unreachable(frontEnd);
  }
}

const SETTINGS_KEYS = ['executor', 'resources', 'storage', 'scheduler', 'logging'];

/** Each front end is known by its own keys, never by the file's name. */
function detect({ value, keySpan, valueSpan }: SourceDocument, report: Report): FrontEnd | null {
  const refuse = (code: string, message: string, hint: string, span = valueSpan([])) => {
    report({
      severity: 'error',
      code,
      message,
      hint,
      span: { start: span.start, end: Math.min(span.end, span.start + 60) },
    });
    return null;
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(
      'not-a-workflow',
      'the file is not a map of keys',
      'begin with name: and stages:, or run `sluice init FILE` for a starter',
    );
  }
  const keys = Object.keys(value);
  if ('mode' in value) return 'pipeline';
  if ('tasks' in value) return 'job';
  if ('stages' in value && Array.isArray(value.stages)) {
    return refuse(
      'not-a-workflow',
      "'stages' is a list, as in a pipeline, but 'mode: pipeline' is missing",
      "add 'mode: pipeline' and 'stateRoot', or write stages as a map",
      keySpan(['stages']),
    );
  }
  if ('stages' in value) return 'playbook';
  if (keys.length > 0 && keys.every((key) => SETTINGS_KEYS.includes(key))) return 'settings';
  const typo = keys.find((key) => nearest(key, ['stages', 'tasks', 'mode']) !== undefined);
  const hint = "add 'stages:' (playbook), 'mode: pipeline' (pipeline) or 'tasks:' (job)";
  if (typo !== undefined) {
    return refuse(
      'unknown-key',
      `unknown key '${shown(typo)}'`,
      `did you mean '${nearest(typo, ['stages', 'tasks', 'mode'])}'?`,
      keySpan([typo]),
    );
  }
  return refuse('not-a-workflow', 'nothing says what kind of workflow this is', hint);
}

function override(draft: DraftWorkflow, set: Readonly<Record<string, Json>>): DraftWorkflow {
  return { ...draft, params: { ...draft.params, ...set } };
}

type Places = ReadonlyMap<StageId, DraftWorkflow['stages'][number]>;

function tell(problem: DagProblem, document: SourceDocument, places: Places): Diagnostic {
  const at = (id: StageId) => places.get(id)!.at;
  const outAt = (id: StageId, index: number) => places.get(id)!.outs[index]?.at ?? at(id);
  switch (problem.problem) {
    case 'cycle': {
      const [first] = problem.stages;
      const loop = [...problem.stages, first!].map(shown).join(' → ');
      const message =
        problem.stages.length === 1
          ? `stage '${shown(first!)}' waits for itself`
          : `these stages wait for each other: ${loop}`;
      return {
        severity: 'error',
        code: 'cycle',
        message,
        hint: "remove one dep or 'after' of the loop",
        span: document.keySpan(at(first!)),
      };
    }
    case 'two-writers': {
      const [one, two] = problem.stages;
      const both = `'${shown(one)}' and '${shown(two)}' both write ${shown(problem.paths[1])}${nested(problem.paths)}`;
      return {
        severity: 'error',
        code: 'two-writers',
        message: one === two ? twiceIn(one, problem.paths) : both,
        hint: one === two ? 'remove one of the two' : 'give each stage its own out',
        span: document.valueSpan(outAt(two, problem.outIndex)),
      };
    }
    case 'own-dep': {
      const meets = problem.out.length < problem.dep.length ? 'around' : 'into';
      const message = `stage '${shown(problem.stage)}' writes ${shown(problem.out)} ${meets} its own dep ${shown(problem.dep)}, so it would never be fresh`;
      return {
        severity: 'error',
        code: 'own-dep',
        message,
        hint: 'write the out to another directory',
        span: document.valueSpan(outAt(problem.stage, problem.outIndex)),
      };
    }
    default:
      return unreachable(problem);
  }
}

function nested(paths: readonly [string, string]): string {
  return isOnePlace(paths) ? '' : ` (which meets ${shown(paths[0])})`;
}

function twiceIn(stage: StageId, [one, two]: readonly [string, string]): string {
  const [outer, inner] = one.length < two.length ? [one, two] : [two, one];
  if (isOnePlace([one, two])) return `stage '${shown(stage)}' lists ${shown(two)} twice`;
  return `stage '${shown(stage)}' writes ${shown(inner)} inside its own out ${shown(outer)}`;
}

function isOnePlace([one, two]: readonly [string, string]): boolean {
  return one.replace(/\/$/, '') === two.replace(/\/$/, '');
}
