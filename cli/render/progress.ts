// How far a run has come: a tally of its stages, and the lines that show it. No clock and no terminal in here.
//
//   transcribe  ━━━━━━━━━━╌╌╌╌  4,645/6,452  48:22  ~18:30 left  lecture-07.wav, lecture-11.wav, 6 more

import { shown } from '../../schema/diagnostic.ts';
import { columnsOf, cutMiddle, padColumns } from '../draw/text-columns.ts';
import { paint } from './output.ts';

export interface StageStart {
  readonly stage: string;
  /** States of the stage, and how many of them the run has to see to, as far as is known when it begins. */
  readonly total: number;
  readonly due: number;
}

interface StageTally {
  readonly name: string;
  total: number;
  due: number;
  ended: number;
  failed: number;
  startedMs: number | null;
  /** Entities; insertion order, so that those shown do not jump about. */
  readonly running: Set<string>;
  readonly again: Set<string>;
}

export type Ended = 'settled' | 'failed' | 'again' | 'released';

/** Constant work for every state that starts or ends, whatever the number of states. */
export class Tally {
  readonly #stages: ReadonlyMap<string, StageTally>;

  constructor(stages: readonly StageStart[]) {
    const empty = { ended: 0, failed: 0, startedMs: null };
    this.#stages = new Map(
      stages.map(({ stage, total, due }) => [
        stage,
        { name: shown(stage), total, due, ...empty, running: new Set<string>(), again: new Set<string>() },
      ]),
    );
  }

  started(stage: string, entity: string, nowMs: number): void {
    const tally = this.#stages.get(stage);
    if (tally === undefined) return;
    tally.startedMs ??= nowMs;
    tally.running.add(entity);
    tally.again.delete(entity);
  }

  ended(stage: string, entity: string, how: Ended): void {
    const tally = this.#stages.get(stage);
    if (tally === undefined) return;
    tally.running.delete(entity);
    if (how === 'again') tally.again.add(entity);
    if (how === 'again' || how === 'released') return;
    tally.ended += 1;
    if (how === 'failed') tally.failed += 1;
    // What an upstream made anew was fresh before, and what a fan-out found was not there at all.
    tally.due = Math.max(tally.due, tally.ended);
    tally.total = Math.max(tally.total, tally.due);
  }

  stages(): readonly Readonly<StageTally>[] {
    return [...this.#stages.values()];
  }
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
}

const MOST_LINES = 8;
const MOST_WAITING = 3;
const WIDEST_NAME = 28;
const LONGEST_ENTITY = 32;

/** Stages that have work left: the running ones first, then those that wait, in the order of the workflow. */
export function progressLines(tally: Tally, nowMs: number, screen: Screen): string[] {
  const open = tally
    .stages()
    .filter(({ due, ended, running, again }) => ended < due || running.size > 0 || again.size > 0);
  const most = Math.max(1, Math.min(MOST_LINES, screen.rows - 2));
  const busy = open.filter(isBusy);
  const next = open.filter((stage) => !isBusy(stage)).slice(0, MOST_WAITING);
  const isAll = busy.length + next.length === open.length && open.length <= most;
  const chosen = new Set([...busy, ...next].slice(0, isAll ? most : most - 1));
  const lines = open.filter((stage) => chosen.has(stage));
  const hidden = open.length - lines.length;
  const widths = widthsOf(lines, screen);
  return [
    ...lines.map((stage) => lineOf(stage, nowMs, { ...screen, ...widths })),
    ...(hidden === 0 ? [] : [paint(screen, 'dim', `… ${many(hidden, 'stage')} more to come`)]),
  ];
}

function isBusy({ running, again }: Readonly<StageTally>): boolean {
  return running.size > 0 || again.size > 0;
}

interface Widths {
  readonly name: number;
  readonly bar: number;
  readonly counts: number;
}

function widthsOf(stages: readonly Readonly<StageTally>[], { columns }: Screen): Widths {
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(columnsOf));
  const most = Math.min(WIDEST_NAME, Math.max(8, Math.floor(columns / 3)));
  return {
    name: Math.min(most, widest(stages.map(({ name }) => name))),
    bar: columns >= 120 ? 24 : columns >= 70 ? 12 : 0,
    counts: widest(stages.map(countsOf)),
  };
}

function lineOf(stage: Readonly<StageTally>, nowMs: number, screen: Screen & Widths): string {
  // One column less than there are: a terminal that wraps at the last one would need another row.
  const room = screen.columns - 1;
  const name = padColumns(cutMiddle(stage.name, screen.name), screen.name);
  const counts = countsOf(stage).padStart(screen.counts);
  const bar = screen.bar === 0 ? '' : `  ${barOf(stage, screen)}`;
  const failed = stage.failed === 0 ? '' : `  ${stage.failed.toLocaleString('en')} failed`;
  const times = timesOf(stage, nowMs);
  const fixed = columnsOf(name) + (screen.bar === 0 ? 0 : screen.bar + 2) + 2 + columnsOf(counts);
  const rest = cutMiddle(`${failed}${times === '' ? '' : `  ${times}`}`, Math.max(0, room - fixed));
  const doing = doingOf(stage, room - fixed - columnsOf(rest) - 2);
  return [
    `${name}${bar}  ${counts}`,
    stage.failed === 0 ? rest : paint(screen, 'red', rest),
    doing === '' ? '' : `  ${paint(screen, 'dim', doing)}`,
  ].join('');
}

function countsOf({ total, due, ended }: Readonly<StageTally>): string {
  return `${(total - due + ended).toLocaleString('en')}/${total.toLocaleString('en')}`;
}

function barOf({ total, due, ended }: Readonly<StageTally>, screen: Screen & Widths): string {
  const part = total === 0 ? 0 : (total - due + ended) / total;
  const full = Math.floor(part * screen.bar);
  return `${paint(screen, 'green', '━'.repeat(full))}${paint(screen, 'dim', '╌'.repeat(screen.bar - full))}`;
}

/** An estimate needs something to go by: two that ended, and a second. */
function timesOf({ startedMs, due, ended }: Readonly<StageTally>, nowMs: number): string {
  if (startedMs === null) return '';
  const elapsedMs = nowMs - startedMs;
  const leftMs = (elapsedMs / ended) * (due - ended);
  const isKnown = ended >= 2 && elapsedMs >= 1_000 && leftMs >= 500;
  return isKnown ? `${clock(elapsedMs)}  ~${clock(leftMs)} left` : clock(elapsedMs);
}

function doingOf(stage: Readonly<StageTally>, columns: number): string {
  const { running, again, startedMs } = stage;
  const later = again.size === 0 ? [] : [`${again.size.toLocaleString('en')} to retry`];
  const names = namesOf(running, columns - columnsOf(later.join('')) - 2 * later.length);
  const others = running.size - names.length;
  if (running.has('') && later.length === 0) return columns < 4 ? '' : 'runs';
  const more =
    others === 0 ? [] : [`${others.toLocaleString('en')} ${names.length === 0 ? 'running' : 'more'}`];
  const parts = [...names, ...more, ...later];
  const text = parts.length === 0 && startedMs === null ? 'waits' : parts.join(', ');
  return columns < 5 ? '' : cutMiddle(text, columns);
}

/** As many as there is room for, and for how many there are besides. */
function namesOf(running: ReadonlySet<string>, columns: number): string[] {
  const names: string[] = [];
  let used = 0;
  for (const entity of running) {
    if (entity === '') break;
    const name = cutMiddle(shown(entity), LONGEST_ENTITY);
    used += columnsOf(name) + 2;
    const isLast = names.length + 1 === running.size;
    if (used - 2 > columns - (isLast ? 0 : ', 999 more'.length)) break;
    names.push(name);
  }
  return names;
}

/** 0:07, 12:30, 1:02:03. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function many(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}
