// What the status of a workflow looks like: a line per stage, then the states that are not settled.

import { shown } from '../../schema/diagnostic.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import { COUNTED_WORDS, type CountedWord, isSettled } from '../../schema/status-words.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { Io } from '../command.ts';
import { nameOf } from '../run/results.ts';
import { columns } from './columns.ts';
import { quoted } from './debug.ts';
import { paint, type Style } from './output.ts';
import { renderWarning } from './run.ts';

export type WordCounts = Readonly<Record<CountedWord, number>>;

export interface StatusReport {
  readonly name: string;
  /** As the person named it, for the next command. */
  readonly named: string;
  /** The files are here and nobody else keeps them, so a run will do. */
  readonly isHere: boolean;
  readonly stages: readonly Stage[];
  readonly counts: WordCounts;
  readonly perStage: ReadonlyMap<string, WordCounts>;
  readonly states: readonly StateAnswer[];
}

const STYLES: Readonly<Record<CountedWord, Style>> = {
  fresh: 'green',
  edited: 'blue',
  skipped: 'dim',
  orphan: 'dim',
  stale: 'yellow',
  waiting: 'yellow',
  running: 'cyan',
  failed: 'red',
  exhausted: 'red',
};

const MOST_SHOWN = 20;

export function renderStatus(report: StatusReport, io: Io, json: boolean): string {
  if (json) return asJson(report);
  const { name, stages, perStage, states } = report;
  const rows = stages.map((stage) => [
    `  ${shown(stage.id)}${stage.frozen ? ' [FROZEN]' : ''}`,
    countsText(perStage.get(stage.id), io),
  ]);
  const told = states.slice(0, MOST_SHOWN).map((state) => stateLine(state, stages, io));
  const more = states.length - told.length;
  const rest = more > 0 ? [`  … and ${more} more; --json lists all`] : [];
  const list = told.length === 0 ? '' : `\n${[...told, ...rest].map((line) => `${line}\n`).join('')}`;
  return `${paint(io, 'bold', shown(name))}\n${columns(rows)}${list}\n${closing(report)}\n`;
}

export interface TroubledRoot {
  readonly workflow: string;
  readonly role: 'runner' | 'watcher';
  readonly name: string;
  readonly problem: string;
}

/** Beside the report, because nothing of it is wrong: what is known there is only no longer looked at. */
export function renderTroubled(roots: readonly TroubledRoot[], io: Io): string {
  return roots
    .map(({ workflow, role, name, problem }) => {
      const cannot = role === 'watcher' ? 'look at all of it' : 'work on it';
      return renderWarning(`${workflow}: ${name} cannot ${cannot}: ${problem}`, io);
    })
    .join('');
}

function stateLine({ stage: id, entity, status, reasons }: StateAnswer, stages: readonly Stage[], io: Io) {
  const stage = stages.find((each) => each.id === id)!;
  const why = reasonsOf(status, reasons);
  const told = why.length === 0 ? '' : paint(io, 'dim', `  ${why.join('; ')}`);
  return `  ${paint(io, STYLES[status], status.padEnd(9))}  ${nameOf(stage, entity as EntityId)}${told}`;
}

function reasonsOf(status: CountedWord, reasons: readonly string[]): readonly string[] {
  if (status === 'edited') return ['changed by hand; --force makes it again', ...reasons];
  if (status === 'orphan') return ['its source is gone', ...reasons];
  return reasons;
}

function closing({ counts, named, isHere, states }: StatusReport): string {
  const open = COUNTED_WORDS.filter((word) => !isSettled(word)).reduce((sum, word) => sum + counts[word], 0);
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  if (all === 0) return 'There are no states: nothing on disk matches what the stages read.';
  const failed = states.find(({ status }) => status === 'failed' || status === 'exhausted');
  if (open === 0) return `All ${all === 1 ? 'is' : `${all} states are`} settled.`;
  const told = `${open} of ${all} not settled`;
  const state = failed === undefined ? null : quoted(stateArgument(failed));
  if (!isHere)
    return state === null ? told : `${told}; to try again now: sluice retry ${quoted(named)} ${state}`;
  const debug =
    state === null ? '' : `; a failure is shown by: sluice debug ${quoted(named)} --stage ${state}`;
  return `${told}; next: sluice run ${quoted(named)}${debug}`;
}

function stateArgument({ stage, entity }: StateAnswer): string {
  return entity === '' ? stage : `${stage}@${entity}`;
}

function countsText(counts: WordCounts | undefined, io: Io): string {
  const words = counts === undefined ? [] : COUNTED_WORDS.filter((word) => counts[word] > 0);
  if (words.length === 0) return paint(io, 'dim', 'no states yet');
  return words.map((word) => paint(io, STYLES[word], `${counts![word]} ${word}`)).join(', ');
}

function asJson({ name, counts, states }: StatusReport): string {
  const listed = states.map(({ stage, entity, status, reasons, cache_key, content_hash }) => ({
    ...{ stage, entity, status, reasons, cache_key, content_hash },
  }));
  return `${JSON.stringify({ workflow: name, counts, states: listed }, null, 2)}\n`;
}

interface WorkflowLine {
  readonly workflow: string;
  readonly paused: boolean;
  readonly counts: WordCounts;
}

export function renderStatuses(workflows: readonly WorkflowLine[], io: Io, json: boolean): string {
  if (json) return `${JSON.stringify({ workflows }, null, 2)}\n`;
  if (workflows.length === 0) return 'No workflow is registered here; next: sluice run FILE\n';
  return columns(
    workflows.map(({ workflow, paused, counts }) => [
      `${shown(workflow)}${paused ? ' [PAUSED]' : ''}`,
      countsText(counts, io),
    ]),
  );
}
