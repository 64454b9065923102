// What happened, as a person reads it: a heading per run, a line per event.

import { shown } from '../../schema/diagnostic.ts';
import type { Event } from '../../schema/events.ts';
import type { EventAnswer } from '../../schema/read-answers.ts';
import { stateName } from '../../schema/reason.ts';
import { type EntityId, type StageId, unreachable } from '../../schema/words.ts';
import type { Io } from '../command.ts';
import type { EventRuns, LogRun } from '../log/event-runs.ts';
import { paint } from './output.ts';

export function renderLog({ runs, skipped }: EventRuns, io: Io, json: boolean): string {
  if (json) {
    const told = runs.map(({ id, events }) => ({ run_id: id, events }));
    return `${JSON.stringify({ runs: told, skipped_lines: skipped }, null, 2)}\n`;
  }
  const texts = runs.map((run) => renderOne(run, io));
  const notes = skipped.map(({ line, because }) => paint(io, 'yellow', `! line ${line}: ${because}`));
  if (texts.length === 0) return `${['No run is in the log.', ...notes].join('\n')}\n`;
  return `${[texts.join('\n'), ...notes].join('\n')}\n`;
}

function renderOne({ id, events }: LogRun, io: Io): string {
  const began = events[0]?.ts;
  const title = `run ${id ?? '(its beginning is not in the log)'}${began === undefined ? '' : `  ${dayAndTime(began)}`}`;
  return [paint(io, 'bold', title), ...events.map((event) => `  ${lineOf(event, io)}`)].join('\n');
}

function lineOf(event: Event, io: Io): string {
  return `${paint(io, 'dim', timeOf(event.ts))}  ${sentenceOf(event, io)}`;
}

function sentenceOf(event: Event, io: Io): string {
  const name = 'stage' in event ? stateName(event.stage as StageId, (event.entity ?? '') as EntityId) : '';
  switch (event.event) {
    case 'run_started':
      return `began: ${shown(event.playbook)}, by sluice ${shown(event.sluice_version)}`;
    case 'run_completed': {
      const { stages_run, stages_cached, stages_failed, total_seconds } = event;
      const failed = stages_failed > 0 ? paint(io, 'red', `, ${stages_failed} failed`) : '';
      return `ended: ${stages_run} run, ${stages_cached} cached${failed} in ${total_seconds} s`;
    }
    case 'stage_started':
      return `${paint(io, 'cyan', '▸')} ${name}  ${paint(io, 'dim', shown(event.cache_miss_reason))}`;
    case 'stage_completed':
      return `${paint(io, 'green', '✓')} ${name}  ${event.duration_seconds} s`;
    case 'stage_skipped':
      return `${paint(io, 'yellow', '–')} ${name}  ${paint(io, 'dim', `skipped: ${shown(event.reason)}`)}`;
    case 'stage_failed':
      return `${paint(io, 'red', '✗')} ${name}  ${shown(event.error)}`;
    case 'stage_retry':
      return `${paint(io, 'yellow', '↻')} ${name}  attempt ${event.attempt} after ${event.backoff_seconds} s`;
    case 'stage_cached':
      return `${paint(io, 'dim', '·')} ${name}  ${event.count === undefined ? 'cached' : `${event.count} cached`}: ${shown(event.reason)}`;
    case 'gate_passed':
      return `${paint(io, 'green', '✓')} ${name}  gate ${shown(event.gate)} passed`;
    case 'gate_failed':
      return `${paint(io, 'red', '✗')} ${name}  gate ${shown(event.gate)}: ${event.violations.map(shown).join('; ')}`;
    default:
      return unreachable(event);
  }
}

/** As the control plane tells them: more kinds than a file has, so fields are shown as they come. */
export function renderToldEvents(events: readonly EventAnswer[], io: Io, json: boolean): string {
  if (json) return `${JSON.stringify({ events }, null, 2)}\n`;
  if (events.length === 0) return 'Nothing has happened yet.\n';
  return events
    .map(({ id: _, ts, event, workflow: __, stage, entity, ...rest }) => {
      const name = stage === undefined ? '' : `  ${stateName(stage as StageId, (entity ?? '') as EntityId)}`;
      const fields = Object.keys(rest).length === 0 ? '' : paint(io, 'dim', `  ${JSON.stringify(rest)}`);
      return `${paint(io, 'dim', dayAndTime(ts))}  ${event}${name}${fields}\n`;
    })
    .join('');
}

interface Compacted {
  readonly log: string;
  readonly kept: number;
  readonly dropped: number;
}

export function renderCompacted({ log, kept, dropped }: Compacted, json: boolean): string {
  if (json) return `${JSON.stringify({ log, runs_kept: kept, runs_dropped: dropped })}\n`;
  return `${shown(log)}: ${dropped} ${dropped === 1 ? 'run' : 'runs'} dropped, ${kept} kept\n`;
}

function dayAndTime(ts: string): string {
  return `${ts.slice(0, 10)} ${timeOf(ts)}`;
}

function timeOf(ts: string): string {
  return ts.slice(11, 19);
}
