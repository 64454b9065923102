// Text in, normal form out: reads a workflow file of any front end, or says everything that is wrong with it.

import { buildDag, type Dag } from './dag.ts';
import { type Diagnostic, nearest, type Report, shown } from './diagnostic.ts';
import { checkWorkflow } from './front/check-workflow.ts';
import { tellDagProblem } from './front/dag-problem.ts';
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
import { type Json, unreachable } from './words.ts';
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
  for (const problem of problems) news(tellDagProblem(problem, document, places));
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
