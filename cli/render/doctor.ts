// What the checks found: a line each, what to do below it, and the sum.

import type { Io } from '../command.ts';
import type { Finding } from '../doctor/finding.ts';
import { paint, type Style } from './output.ts';

const STYLES: Readonly<Record<Finding['status'], Style>> = { ok: 'green', warn: 'yellow', fail: 'red' };

export function renderFindings(findings: readonly Finding[], io: Io, json: boolean): string {
  const count = (status: Finding['status']) => findings.filter((each) => each.status === status).length;
  const sum = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
  if (json) return `${JSON.stringify({ healthy: sum.fail === 0, ...sum, checks: findings }, null, 2)}\n`;
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, status, fact, next }) => {
    const head = `${paint(io, STYLES[status], status.padEnd(4))}  ${check.padEnd(width)}  ${fact}\n`;
    return next === null ? head : `${head}${' '.repeat(width + 8)}→ ${next}\n`;
  });
  const worst = [
    ...(sum.fail > 0 ? [`${sum.fail} to mend`] : []),
    ...(sum.warn > 0 ? [`${sum.warn} to look at`] : []),
  ];
  return `${lines.join('')}${worst.length === 0 ? 'All is well.' : `${worst.join(', ')}.`}\n`;
}
