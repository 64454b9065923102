// The lines of an event log, run by run: what can be read is an event, what cannot is kept and told.

import { type Event, parseEventLine } from '../../schema/events.ts';

export interface LogRun {
  /** Null for what stands before the first run, as after an old log was cut. */
  readonly id: string | null;
  readonly events: readonly Event[];
  /** As they stand in the file, without their line breaks; torn ones are left out. */
  readonly lines: readonly string[];
}

export interface SkippedLine {
  /** From 1. */
  readonly line: number;
  readonly because: string;
}

export interface EventRuns {
  readonly runs: readonly LogRun[];
  readonly skipped: readonly SkippedLine[];
}

export function readEventRuns(text: string): EventRuns {
  const runs: { id: string | null; events: Event[]; lines: string[] }[] = [];
  const skipped: SkippedLine[] = [];
  const current = () => {
    if (runs.length === 0) runs.push({ id: null, events: [], lines: [] });
    return runs.at(-1)!;
  };
  for (const [i, line] of text.split('\n').entries()) {
    const read = parseEventLine(line);
    switch (read.kind) {
      case 'blank':
        break;
      case 'torn':
        skipped.push({ line: i + 1, because: read.message });
        break;
      case 'unknown':
        current().lines.push(line);
        skipped.push({ line: i + 1, because: `the event '${read.name}' is of a newer Sluice` });
        break;
      case 'invalid':
        current().lines.push(line);
        skipped.push({ line: i + 1, because: read.message });
        break;
      case 'event':
        if (read.event.event === 'run_started')
          runs.push({ id: read.event.run_id, events: [read.event], lines: [line] });
        else {
          current().events.push(read.event);
          current().lines.push(line);
        }
    }
  }
  return { runs, skipped };
}

/** The newest runs, whole; what stands before the first of them goes. */
export function compactRuns(
  { runs }: EventRuns,
  keep: number,
): { text: string; kept: number; dropped: number } {
  const real = runs.filter(({ id }) => id !== null);
  const kept = real.slice(-keep);
  const text = kept.flatMap(({ lines }) => lines.map((line) => `${line}\n`)).join('');
  return { text, kept: kept.length, dropped: real.length - kept.length };
}
