// What a run would do, as a person and a script read it.

import { shown } from '../../schema/diagnostic.ts';
import type { Io } from '../command.ts';
import type { Plan, PlannedState } from '../look/plan-run.ts';
import { paint, type Style } from './output.ts';

const MARKS: Readonly<Record<PlannedState['status'], readonly [string, Style]>> = {
  would_run: ['▸ would run   ', 'yellow'],
  would_follow: ['↳ would follow', 'cyan'],
  waiting: ['… waits       ', 'dim'],
};

/** Of each kind; the counts at the end are of all. */
const MOST_SHOWN = 50;

export function renderPlan(workflow: string, plan: Plan, io: Io, json: boolean): string {
  const count = (status: PlannedState['status']) =>
    plan.states.filter((state) => state.status === status).length;
  const counts = {
    ...{ would_run: count('would_run'), would_follow: count('would_follow') },
    ...{ waiting: count('waiting'), cached: plan.cached },
  };
  if (json) {
    const states = plan.states.map(({ stage, entity, status, reasons }) => ({
      ...{ stage, entity, status, reasons },
    }));
    const document = { workflow, dry_run: true, ...counts, unknown_stages: plan.unknownStages, states };
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const lines = (['would_run', 'would_follow', 'waiting'] as const).flatMap((status) => {
    const states = plan.states.filter((state) => state.status === status);
    const more = states.length - MOST_SHOWN;
    return [
      ...states.slice(0, MOST_SHOWN).map((state) => lineOf(state, io)),
      ...(more > 0 ? [`  … and ${more} more; --json lists all`] : []),
    ];
  });
  const unknown = plan.unknownStages.map(
    (stage) => `${mark('would_follow', io)} ${shown(stage)}  its states depend on what is made before it`,
  );
  const sum = [
    `${counts.would_run} would run`,
    `${counts.would_follow} would follow`,
    ...(counts.waiting > 0 ? [`${counts.waiting} waiting`] : []),
    `${counts.cached} cached`,
  ].join(', ');
  return `${[...lines, ...unknown, `${shown(workflow)}: ${sum}; nothing was run`].join('\n')}\n`;
}

function lineOf({ name, status, reasons }: PlannedState, io: Io): string {
  const why = reasons.length === 0 ? '' : paint(io, 'dim', `  ${reasons.join('; ')}`);
  return `${mark(status, io)} ${name}${why}`;
}

function mark(status: PlannedState['status'], io: Io): string {
  const [text, style] = MARKS[status];
  return paint(io, style, text);
}
