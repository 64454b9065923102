// A persistent shell that runs one command after the other, each in a session and process group of its own.
//
//   idle ──begin──▶ waiting (the leader has told its pid) ──go──▶ running ──its exit code──▶ idle
//   any of them ──the shell is gone──▶ lost
//
// A leader that is killed before it has read its launch leaves it in the pipe. The shell passes over everything
// up to the next line that is its own word for "begin", which no launch can contain, so that what was called off
// is never started by whoever reads next.
//
// Why not spawn from here: Node forks, which takes 0.8 ms from a small process and 13 ms from one of 400 MB,
// with the event loop standing still; a shell takes 0.4 ms, and `setsid` another 0.3, whatever our size.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { REPORT_FD, UNSTARTED } from './launch-script.ts';

export type SlotEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** The command's directory, files or environment could not be set up. */
  | { readonly kind: 'unstarted' }
  /** The slot's own shell was killed. */
  | { readonly kind: 'lost' };

export interface Shells {
  readonly sh: string;
  /** Without it the slot's own group is the command's, and a slot serves only one command. */
  readonly setsid: string | null;
}

/**
 * A leader reads its code from the pipe that it shares with the slot's shell. It gets the first line at once
 * and the rest when its group is journalled; if we die in between, it reads the end of the pipe and exits.
 * TERM is caught, not ignored: what is ignored stays ignored in commands.
 */
const LOOP = `trap : TERM
begin=$1
shift
while read -r line; do
  if [ "$line" = "$begin" ]; then "$@"; echo "ended $?" >&${REPORT_FD}; fi
done`;

export class Slot {
  readonly #shell: ChildProcess;
  readonly #input: Writable;
  readonly #isOwnGroup: boolean;
  readonly #gone: Promise<unknown>;
  readonly #begin = `begin ${randomBytes(16).toString('hex')}`;
  #unread = '';
  #isUnstarted = false;
  #isLost = false;
  #onGroup: (group: number | null) => void = () => {};
  #onEnd: (end: SlotEnd) => void = () => {};
  /** Of the leader that was begun last. */
  #ended: Promise<SlotEnd> = Promise.resolve({ kind: 'lost' });

  constructor({ sh, setsid }: Shells) {
    const leader = setsid === null ? [sh] : [setsid, sh];
    this.#isOwnGroup = setsid === null;
    this.#shell = spawn(sh, ['-c', LOOP, 'sluice-slot', this.#begin, ...leader], {
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

  get isReusable(): boolean {
    return !this.#isLost && !this.#isOwnGroup;
  }

  /** Starts a leader that waits; gives its process group, or null if there is no shell to start one. */
  begin(): Promise<number | null> {
    if (this.#isLost) return Promise.resolve(null);
    this.#isUnstarted = false;
    // From here on, for a leader may be killed before it is let go.
    this.#ended = new Promise((resolve) => {
      this.#onEnd = resolve;
    });
    return new Promise((resolve) => {
      this.#onGroup = resolve;
      this.#input.write(`${this.#begin}\necho "group $$" >&${REPORT_FD}\n`);
    });
  }

  /** Lets the waiting leader become the command. */
  go(launch: string): Promise<SlotEnd> {
    if (!this.#isLost) this.#input.write(launch);
    // In the command's group it must not stay longer than the command, or the group would never be empty.
    if (this.#isOwnGroup) this.#input.end();
    return this.#ended;
  }

  async close(): Promise<void> {
    this.#input.end();
    await this.#gone;
  }

  #read(text: string): void {
    const lines = (this.#unread + text).split('\n');
    this.#unread = lines.pop()!;
    for (const line of lines) this.#hear(line);
  }

  #hear(line: string): void {
    const [word, number] = line.split(' ');
    if (word === 'group') this.#onGroup(this.#isOwnGroup ? this.#shell.pid! : Number(number));
    else if (word === UNSTARTED) this.#isUnstarted = true;
    else if (word === 'ended') {
      // Without effect unless it died before it could tell its group.
      this.#onGroup(null);
      this.#onEnd(this.#isUnstarted ? { kind: 'unstarted' } : { kind: 'exited', exitCode: Number(number) });
    }
  }

  #lose(): void {
    this.#isLost = true;
    this.#onGroup(null);
    this.#onEnd({ kind: 'lost' });
  }
}
