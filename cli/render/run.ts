// What a run looks like: a line for each state that was not cached, then the sum.

import { randomUUID } from 'node:crypto';
import { shown } from '../../schema/diagnostic.ts';
import type { Workflow } from '../../schema/workflow.ts';
import type { Io } from '../command.ts';
import type { StateResult } from '../run/run-workflow.ts';
import { paint, type Style } from './output.ts';

const MARKS: Readonly<Record<StateResult['status'], readonly [string, Style]>> = {
  completed: ['✓', 'green'],
  cached: ['·', 'dim'],
  failed: ['✗', 'red'],
  skipped: ['–', 'yellow'],
  waiting: ['…', 'yellow'],
};

export function renderState({ name, status, reasons, error, seconds }: StateResult, io: Io): string {
  if (status === 'cached' && reasons.length === 0) return '';
  const [mark, style] = MARKS[status];
  const took = status === 'completed' ? paint(io, 'dim', ` ${seconds.toFixed(2)} s`) : '';
  const why = reasons.length === 0 ? '' : paint(io, 'dim', `  ${reasons.join('; ')}`);
  const said =
    error === null
      ? ''
      : `${error
          .split('\n')
          .map((line) => `    ${shown(line)}`)
          .join('\n')}\n`;
  return `${paint(io, style, mark)} ${name}${took}${why}\n${said}`;
}

interface RunReport {
  readonly workflow: Workflow;
  readonly results: readonly StateResult[];
  readonly seconds: number;
}

export function renderRun(
  { workflow, results, seconds }: RunReport,
  io: Io,
  { json, all }: { readonly json: boolean; readonly all: boolean },
): string {
  const count = (...statuses: readonly StateResult['status'][]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const failed = count('failed', 'skipped', 'waiting');
  if (json) {
    const states = results.filter(({ status }) => all || status !== 'cached');
    const report = {
      run_id: randomUUID(),
      workflow: workflow.name,
      status: failed === 0 ? 'completed' : 'failed',
      states_run: count('completed', 'failed'),
      states_cached: count('cached'),
      states_failed: count('failed'),
      total_seconds: Math.round(seconds * 1_000) / 1_000,
      states: states.map(({ stage, entity, status, reasons, error }) => ({
        ...{ stage, entity, status, reasons },
        ...(error === null ? {} : { error }),
      })),
    };
    return `${JSON.stringify(report, null, 2)}\n`;
  }
  const parts = [
    `${count('completed')} run`,
    `${count('cached')} cached`,
    ...(count('failed') > 0 ? [paint(io, 'red', `${count('failed')} failed`)] : []),
    ...(count('skipped') > 0 ? [`${count('skipped')} skipped`] : []),
    ...(count('waiting') > 0 ? [`${count('waiting')} waiting`] : []),
  ];
  return `${shown(workflow.name)}: ${parts.join(', ')} in ${seconds.toFixed(2)} s\n`;
}
