// What can only be checked on the whole workflow: mistakes that no single key shows.

import { type Report, shown } from '../diagnostic.ts';
import { locateIn } from '../path-form.ts';
import { parseSchedule } from '../schedule.ts';
import type { Path, SourceDocument } from '../source-document.ts';
import { lintNestedShell } from '../template/lint-nested-shell.ts';
import { parseTemplate } from '../template/parse.ts';
import type { TemplateProblem } from '../template/problem.ts';
import { checkShell } from '../template/render-shell.ts';
import type { Stage, Workflow } from '../workflow.ts';
import type { DraftStage, DraftWorkflow } from './draft.ts';

interface Checked {
  readonly workflow: Workflow;
  readonly draft: DraftWorkflow;
  readonly document: SourceDocument;
  /** Of the workflow file, if it is known. */
  readonly root: string | null;
  readonly report: Report;
}

export function checkWorkflow(checked: Checked): void {
  checkPathForms(checked);
  checkSchedule(checked);
  checkJobDependencies(checked);
  for (const [i, stage] of checked.workflow.stages.entries()) {
    const draft = checked.draft.stages[i]!;
    checkAction(stage, draft, checked);
    checkCommand(stage, draft, checked);
  }
}

/** `/srv/x` and `x` under the root `/srv` are one file, but a key names paths as written: one form each. */
function checkPathForms({ workflow, draft, document, root, report }: Checked): void {
  const locate = locateIn(workflow, root);
  const written = new Map<string, string>();
  for (const [i, stage] of workflow.stages.entries()) {
    for (const { path, target, at } of pathsOf(stage, draft.stages[i]!)) {
      const located = `${target}\0${locate(path, target).replace(/\/$/, '')}`;
      const other = written.get(located);
      written.set(located, other ?? path);
      if (other === undefined || other.startsWith('/') === path.startsWith('/')) continue;
      const message = `'${shown(path)}' and '${shown(other)}' are one path in two forms`;
      const hint = `write it as '${shown(path.startsWith('/') ? other : path)}' in both places`;
      report({ severity: 'error', code: 'two-path-forms', message, hint, span: document.valueSpan(at) });
    }
  }
}

function pathsOf(stage: Stage, draft: DraftStage) {
  const deps = stage.deps.map(({ path, target }, i) => ({ path, target, at: draft.deps[i]?.at ?? draft.at }));
  const outs = stage.outs.map(({ path, remote }, i) => ({
    path,
    target: remote ?? stage.target,
    at: draft.outs[i]?.at ?? draft.at,
  }));
  return [...deps, ...outs];
}

function checkSchedule({ workflow: { schedule }, document, report }: Checked): void {
  if (schedule === null) return;
  const parsed = parseSchedule(schedule.expression, schedule.timezone);
  if (parsed.ok) return;
  const zoneAlone = parseSchedule(schedule.expression, null).ok;
  const span = document.valueSpan([zoneAlone ? 'timezone' : 'schedule']);
  report({ severity: 'error', code: 'bad-schedule', message: parsed.message, hint: parsed.hint, span });
}

function checkJobDependencies({ workflow, document, report }: Checked): void {
  for (const [i, { condition, windowMs }] of workflow.jobDependencies.entries()) {
    const at: Path = ['depends_on', i];
    if (condition === 'within_window' && windowMs === null) {
      const hint = 'add for example window: 24h';
      report({
        severity: 'error',
        code: 'missing-key',
        message: "within_window needs 'window'",
        hint,
        span: document.keySpan([...at, 'condition']),
      });
    }
    if (condition === 'last_success' && windowMs !== null) {
      const message = "'window' has no meaning with last_success";
      const hint = 'use condition: within_window, or remove it';
      const span = document.keySpan([...at, 'window']);
      report({ severity: 'error', code: 'bad-value', message, hint, span });
    }
  }
}

/** The seed's fragments have stages without a command; they load, but nothing can make their outs. */
function checkAction({ id, kind, action }: Stage, draft: DraftStage, { document, report }: Checked): void {
  if (kind === 'source' || action.kind !== 'none') return;
  const message = `stage '${shown(id)}' says nothing about how it is made`;
  report({
    severity: 'warning',
    code: 'no-action',
    message,
    hint: "add 'cmd:', or 'node:' in a pipeline",
    span: document.keySpan(draft.at),
  });
}

/** What no value could make safe is an error now rather than a failed attempt later. */
function checkCommand({ action, variables }: Stage, draft: DraftStage, { document, report }: Checked): void {
  if (action.kind !== 'shell') return;
  const template = parseTemplate(action.cmd, { variables, dialect: 'braces' });
  const at = draft.templates.find(({ text }) => text === action.cmd)?.at ?? draft.at;
  const told = (severity: 'error' | 'warning', problems: readonly TemplateProblem[]) => {
    for (const { code, message, hint, ...part } of problems) {
      const span = document.spanWithin(at, action.cmd, part);
      report({ severity, code, message, hint, span });
    }
  };
  told('error', checkShell(template));
  told('warning', lintNestedShell(template));
}
