// A persistent shell that runs one command after the other, alone with it in a session and process group of its own.
//
//   idle ──run──▶ running ──its exit code──▶ idle
//   any of them ──the shell is gone──▶ lost
//
// Why not spawn from here: Node forks, which takes 0.8 ms from a small process and 13 ms from one of 400 MB, with the
// event loop standing still; a shell forks in 0.2 ms, whatever our size. A group for each command would take another
// program in between (`setsid`, 0.7 ms), a word back and forth, and a note in the journal and to the watchdog.
//
// A signal to the group kills the shell with its command. Were it caught here, one that comes while the shell forks would
// be lost, and a command that was called off would run.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { REPORT_FD, UNSTARTED } from './launch-script.ts';

export type SlotEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** The command's directory, files or environment could not be set up. */
  | { readonly kind: 'unstarted' }
  /** The slot's own shell was killed, and has taken the exit code with it. */
  | { readonly kind: 'lost'; readonly signal: NodeJS.Signals };

export class Slot {
  readonly #shell: ChildProcess;
  readonly #input: Writable;
  readonly #gone: Promise<unknown>;
  #unread = '';
  #isUnstarted = false;
  #isLost = false;
  #isClosing = false;
  #onEnd: (end: SlotEnd) => void = () => {};

  constructor(sh: string) {
    // It reads its program from the pipe, and ends when the pipe does.
    this.#shell = spawn(sh, [], {
      cwd: '/',
      env: {},
      // A session of its own: the terminal's Ctrl-C is for the runner to handle.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    this.#input = this.#shell.stdin!;
    this.#input.on('error', () => {});
    const reports = this.#shell.stdio[REPORT_FD] as Readable;
    reports.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#gone = once(this.#shell, 'close').then(
      () => this.#lose(),
      () => this.#lose(),
    );
  }

  /** Also its process group, and that of its command; null if there is no such shell. */
  get pid(): number | null {
    return this.#shell.pid ?? null;
  }

  get isUsable(): boolean {
    const { exitCode, signalCode } = this.#shell;
    return !this.#isLost && !this.#isClosing && exitCode === null && signalCode === null;
  }

  run(launch: string): Promise<SlotEnd> {
    this.#isUnstarted = false;
    const ended = new Promise<SlotEnd>((resolve) => {
      this.#onEnd = resolve;
    });
    if (this.#isLost) this.#lose();
    else this.#input.write(`${launch}echo "ended $?" >&${REPORT_FD}\n`);
    return ended;
  }

  /** It runs nothing more: once its command has ended, it ends too. */
  retire(): void {
    this.#isClosing = true;
    this.#input.end();
  }

  async close(): Promise<void> {
    this.retire();
    await this.#gone;
  }

  #read(text: string): void {
    const lines = (this.#unread + text).split('\n');
    this.#unread = lines.pop()!;
    for (const line of lines) this.#hear(line);
  }

  #hear(line: string): void {
    const [word, number] = line.split(' ');
    if (word === UNSTARTED) this.#isUnstarted = true;
    else if (word === 'ended')
      this.#onEnd(this.#isUnstarted ? { kind: 'unstarted' } : { kind: 'exited', exitCode: Number(number) });
  }

  #lose(): void {
    this.#isLost = true;
    this.#onEnd({ kind: 'lost', signal: this.#shell.signalCode ?? 'SIGKILL' });
  }
}
