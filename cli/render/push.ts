// What became of each workflow that was pushed: its name and hash as `work --allow` wants them, and what is different.

import { shown } from '../../schema/diagnostic.ts';
import { explain, type Reason } from '../../schema/reason.ts';
import type { Io } from '../command.ts';
import { paint, type Style } from './output.ts';

export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly rewired: readonly string[];
  readonly changed: readonly { readonly stage: string; readonly reasons: readonly Reason[] }[];
}

export interface PushResult {
  readonly file: string;
  readonly workflow: string;
  readonly status: 'new' | 'changed' | 'unchanged';
  readonly definition: string;
  readonly root: string;
  readonly target: string;
  readonly changes: Changes;
  readonly warnings: readonly string[];
}

const STYLES: Readonly<Record<PushResult['status'], Style>> = {
  new: 'green',
  changed: 'yellow',
  unchanged: 'dim',
};

export function renderPushed(results: readonly PushResult[], io: Io, json: boolean): string {
  if (json) return `${JSON.stringify({ workflows: results.map(toJson) }, null, 2)}\n`;
  return results.map((result) => `${headOf(result, io)}${detailsOf(result)}`).join('');
}

function headOf({ workflow, definition, status, root, target }: PushResult, io: Io): string {
  const word = paint(io, STYLES[status], status.padEnd('unchanged'.length));
  const where = status === 'new' ? paint(io, 'dim', `  ${shown(root)} on ${shown(target)}`) : '';
  return `${word}  ${shown(workflow)}@${definition}${where}\n`;
}

function detailsOf({ status, changes }: PushResult): string {
  if (status !== 'changed') return '';
  const { added, removed, rewired, changed } = changes;
  const lines = [
    ...changed.map(
      ({ stage, reasons }) => `${shown(stage)}: ${reasons.map((each) => shown(explain(each))).join('; ')}`,
    ),
    ...rewired.map((stage) => `${shown(stage)}: other paths, entities or machine`),
    ...added.map((stage) => `${shown(stage)}: new`),
    ...removed.map((stage) => `${shown(stage)}: removed`),
  ];
  const told = lines.length === 0 ? ['nothing that makes a state stale'] : lines;
  return told.map((line) => `           ${line}\n`).join('');
}

function toJson({ changes, ...rest }: PushResult) {
  const changed = changes.changed.map(({ stage, reasons }) => ({ stage, reasons: reasons.map(explain) }));
  return { ...rest, changes: { ...changes, changed } };
}
