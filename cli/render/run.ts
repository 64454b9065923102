// What a run looks like: a line for each state that was not cached, then the sum.

import { shown } from '../../schema/diagnostic.ts';
import type { Io } from '../command.ts';
import { isGood, type StateResult } from '../run/results.ts';
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
  readonly id: string;
  /** Of the workflow. */
  readonly name: string;
  /** Cached ones only if all were asked for, or have something to say. */
  readonly results: readonly StateResult[];
  readonly cached: number;
  readonly seconds: number;
}

export function renderRun(
  { id, name, results, cached, seconds }: RunReport,
  io: Io,
  { json, all }: { readonly json: boolean; readonly all: boolean },
): string {
  const count = (...statuses: readonly StateResult['status'][]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  if (json) {
    const states = results.filter(({ status }) => all || status !== 'cached');
    const report = {
      run_id: id,
      workflow: name,
      status: results.every(isGood) ? 'completed' : 'failed',
      states_run: count('completed', 'failed'),
      states_cached: cached,
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
    `${cached} cached`,
    ...(count('failed') > 0 ? [paint(io, 'red', `${count('failed')} failed`)] : []),
    ...(count('skipped') > 0 ? [`${count('skipped')} skipped`] : []),
    ...(count('waiting') > 0 ? [`${count('waiting')} waiting`] : []),
  ];
  return `${shown(name)}: ${parts.join(', ')} in ${seconds.toFixed(2)} s\n`;
}

export function renderWarning(warning: string, io: Io): string {
  return `${paint(io, 'yellow', '!')} ${shown(warning)}\n`;
}
