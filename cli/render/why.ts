// The reasons of a state as a tree: what it waits for, what that waits for, down to a file or a param.

import { shown } from '../../schema/diagnostic.ts';
import type { WhyAnswer } from '../../schema/read-answers.ts';
import type { StateWord } from '../../schema/status-words.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { Io } from '../command.ts';
import type { ReachedWorkflow } from '../look/reach-workflow.ts';
import { causeOf, stateNameOf } from '../why/ask-why.ts';
import { paint, type Style } from './output.ts';

export interface WhyReport {
  readonly answers: readonly WhyAnswer[];
  /** Further states of the stage. */
  readonly more: number;
  readonly stage: Stage;
  readonly reached: Pick<ReachedWorkflow, 'name' | 'stages'>;
  readonly json: boolean;
}

export function renderWhy({ answers, more, stage, reached, json }: WhyReport, io: Io): string {
  if (json) {
    const document = answers.length === 1 && more === 0 ? answers[0] : { states: answers, more };
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const trees = answers.map((answer) => tree(answer, reached, io).join('\n'));
  const rest = more > 0 ? [`… and ${more} more of stage '${shown(stage.id)}'`] : [];
  return `${[...trees, ...rest].join('\n')}\n`;
}

function tree(answer: WhyAnswer, reached: WhyReport['reached'], io: Io): string[] {
  const isFrozen = reached.stages.some(
    ({ id, frozen }) => frozen && id === answer.stage && answer.workflow === reached.name,
  );
  const cause = causeOf(answer, reached);
  const title = `${stateNameOf(answer, reached)}${isFrozen ? ' [FROZEN]' : ''} ${sentenceOf(answer, io)}${
    cause === '' ? '' : `: ${cause}`
  }`;
  const leaves = leavesOf(answer);
  const branches = [
    ...leaves.map((leaf) => [leaf]),
    ...answer.upstream.map((each) => tree(each, reached, io)),
    ...(answer.more === undefined ? [] : [[`… and ${answer.more} more`]]),
  ];
  return [title, ...branches.flatMap((branch, i) => hung(branch, i === branches.length - 1))];
}

function leavesOf({ word, reasons, upstream, waits_for }: WhyAnswer): string[] {
  const told = reasons.map(({ sentence }) => sentence);
  if (word === 'edited') return ['a person changed its output; --force makes it again', ...told];
  // Something that waits was never made for a reason that stands further down.
  const isObvious = upstream.length > 0 || waits_for.length > 0;
  return isObvious ? told.filter((sentence) => !/new stage$|first run$/.test(sentence)) : told;
}

function hung(lines: readonly string[], isLast: boolean): string[] {
  return lines.map((line, i) => {
    if (i === 0) return `${isLast ? '└── ' : '├── '}${line}`;
    return `${isLast ? '    ' : '│   '}${line}`;
  });
}

const SENTENCES: Readonly<Record<StateWord, readonly [string, Style]>> = {
  fresh: ['is fresh: made from the present inputs, command and params', 'green'],
  edited: ['is edited', 'blue'],
  skipped: ['is skipped: its condition is false', 'dim'],
  orphan: ['is an orphan: its source is gone', 'dim'],
  stale: ['is stale', 'yellow'],
  waiting: ['is waiting', 'yellow'],
  blocked: ['cannot be made', 'red'],
  running: ['is being made', 'cyan'],
  failed: ['failed', 'red'],
  exhausted: ['failed and is not tried again by itself', 'red'],
};

function sentenceOf({ word, upstream, waits_for }: WhyAnswer, io: Io): string {
  if (word === 'skipped' && waits_for.length > 0)
    return paint(
      io,
      'dim',
      `is skipped: ${waits_for.map(shown).join(', ')} was not made, for a condition is false`,
    );
  // Dirtiness is a state's own (SEMANTICS 4): it may yet turn out that what comes from above is the same as before.
  if (word === 'fresh' && upstream.length > 0)
    return paint(io, 'yellow', 'is fresh, but what it is made from is not');
  const [sentence, style] = SENTENCES[word];
  return paint(io, style, sentence);
}
