// `p.events.jsonl` beside the workflow: what happened in every run, one line each, appended and never rewritten.

import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { type Event, formatEventLine } from '../../schema/events.ts';

export class EventLog {
  readonly #path: string;
  #unwritten = '';
  #failure: { readonly error: unknown } | null = null;

  constructor(path: string) {
    this.#path = path;
    dropTornLine(path);
  }

  /** What is told in one go is written in one go. A write that fails is told with the next one. */
  append(...events: readonly Event[]): void {
    if (events.length === 0) return;
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#unwritten === '') queueMicrotask(() => this.#write());
    this.#unwritten += events.map(formatEventLine).join('');
  }

  /** Throws what has kept any event from being written. */
  flush(): void {
    this.#write();
    if (this.#failure !== null) throw this.#failure.error;
  }

  #write(): void {
    const text = this.#unwritten;
    this.#unwritten = '';
    if (text === '') return;
    try {
      appendFileSync(this.#path, text);
    } catch (error) {
      this.#failure = { error };
    }
  }
}

/** A crash in the middle of an append leaves part of a line; the next one must not continue it. */
function dropTornLine(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const whole = endOfLastLine(fd, size);
    if (whole < size) ftruncateSync(fd, whole);
  } finally {
    closeSync(fd);
  }
}

function endOfLastLine(fd: number, size: number): number {
  const chunk = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - chunk.length);
    const read = readSync(fd, chunk, 0, end - from, from);
    const at = chunk.subarray(0, read).lastIndexOf(10);
    if (at >= 0) return from + at + 1;
    end = from;
  }
  return 0;
}
