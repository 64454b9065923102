// What every drawing says about a stage: its name, what kind of thing it is, and short notes.

import { shown } from '../../schema/diagnostic.ts';
import { LOCAL, unreachable } from '../../schema/words.ts';
import type { FanOut, Stage } from '../../schema/workflow.ts';

export type Look = 'source' | 'transform' | 'action' | 'gate';

export interface StageMarks {
  /** Safe to show: control characters and bidi marks are escaped. */
  readonly name: string;
  readonly look: Look;
  readonly frozen: boolean;
  /** Such as `per {sample}` and `on intel`; what `look` and `frozen` say is not repeated. */
  readonly notes: readonly string[];
}

export function marksOf(stage: Stage): StageMarks {
  return { name: shown(stage.id), look: lookOf(stage), frozen: stage.frozen, notes: notesOf(stage) };
}

/** The marks in words, for drawings that have no other way to show them. */
export function markWords(marks: StageMarks): string[] {
  const kind = marks.look === 'transform' ? [] : [marks.look];
  return [...kind, ...(marks.frozen ? ['frozen'] : []), ...marks.notes];
}

function lookOf(stage: Stage): Look {
  return stage.gate ? 'gate' : stage.kind;
}

function notesOf(stage: Stage): string[] {
  const notes: string[] = [];
  if (stage.variables.length > 0) notes.push(`per ${stage.variables.map((v) => `{${shown(v)}}`).join(' ')}`);
  if (stage.fanOut !== null) notes.push(fanOutNote(stage.fanOut));
  if (stage.target !== LOCAL) notes.push(`on ${shown(stage.target)}`);
  return notes;
}

function fanOutNote(fanOut: FanOut): string {
  switch (fanOut.strategy) {
    case 'per_file':
      return 'per file';
    case 'chunked':
      return fanOut.chunkSize === null ? 'in chunks' : `in chunks of ${fanOut.chunkSize}`;
    default:
      return unreachable(fanOut.strategy);
  }
}
