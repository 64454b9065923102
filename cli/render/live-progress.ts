// Keeps the lines of progress at the foot of the terminal while what has ended scrolls by above them.
//
// What is written is gathered and goes out with the next frame, so ten thousand states cost ten writes a second.

import type { Io, Terminal } from '../command.ts';
import { columnsOf } from '../draw/text-columns.ts';
import { type Ended, progressLines, type StageStart, Tally } from './progress.ts';

export interface LiveProgress {
  /** A line, or several, above the progress. */
  print(text: string): void;
  begun(stages: readonly StageStart[]): void;
  started(stage: string, entity: string): void;
  ended(stage: string, entity: string, how: Ended): void;
  close(): void;
}

const FRAME_MS = 100;
/** A run that is done by then shows only its lines. */
const FIRST_FRAME_MS = 300;
const ERASE_BELOW = '\x1b[J';
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';
const STYLE = /\x1b\[\d+m/g;

/** Null where nobody looks: not a terminal, a machine that only keeps a log, or one that cannot move its cursor. */
export function progressTerminal(io: Io, { json }: { readonly json: boolean }): Terminal | null {
  const { CI, TERM } = io.env;
  const isLog = (CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0') || TERM === 'dumb';
  return json || isLog ? null : (io.terminal ?? null);
}

export class TerminalProgress implements LiveProgress {
  readonly #terminal: Terminal;
  readonly #color: boolean;
  readonly #now: () => number;
  readonly #begunMs: number;
  #tally: Tally | null = null;
  #timer: NodeJS.Timeout | null = null;
  #text = '';
  #frame: readonly string[] = [];

  constructor(terminal: Terminal, color: boolean, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#color = color;
    this.#now = now;
    this.#begunMs = now();
  }

  begun(stages: readonly StageStart[]): void {
    this.#tally = new Tally(stages);
    this.#timer ??= setInterval(() => this.paint(), FRAME_MS);
    this.#timer.unref();
  }

  print(text: string): void {
    this.#text += text;
    if (this.#frame.length === 0) this.#write([]);
  }

  started(stage: string, entity: string): void {
    this.#tally?.started(stage, entity, this.#now());
  }

  ended(stage: string, entity: string, how: Ended): void {
    this.#tally?.ended(stage, entity, how);
  }

  paint(): void {
    const nowMs = this.#now();
    if (this.#tally === null || nowMs - this.#begunMs < FIRST_FRAME_MS) return;
    const { columns, rows } = this.#terminal;
    const lines = progressLines(this.#tally, nowMs, { columns, rows, color: this.#color });
    if (this.#text === '' && lines.join('\n') === this.#frame.join('\n')) return;
    this.#write(lines);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#tally = null;
    this.#write([]);
  }

  #write(frame: readonly string[]): void {
    const text = `${this.#erase()}${this.#text}${frame.length === 0 ? '' : `${NO_WRAP}${frame.join('\n')}${WRAP}`}`;
    this.#frame = frame;
    this.#text = '';
    if (text !== '') this.#terminal.write(text);
  }

  /** A terminal that was made narrower has broken the lines that were there. */
  #erase(): string {
    if (this.#frame.length === 0) return '';
    const { columns } = this.#terminal;
    const rows = this.#frame.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line.replace(STYLE, '')) / columns)),
      0,
    );
    return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}${ERASE_BELOW}`;
  }
}
