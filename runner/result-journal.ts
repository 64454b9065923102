// Results that the control plane has not acknowledged yet, on disk until it has: one line each, and one for those that
// were taken. Nothing is synced: what a power cut takes away is made again.
//
//   {"kind":"complete","item":{"token":7,…}}     {"kind":"fail","item":{…}}     {"taken":[7]}

import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Performed } from './performed.ts';

export type Result = Exclude<Performed['post'], { kind: 'release' }> & {
  /** Of what it is the result. */
  readonly workflow: string;
  readonly stage: string;
  readonly entity: string;
};

/** One, or none of what is given back unmade. */
export function resultOf({ post, item: { workflow, stage, entity } }: Performed): Result[] {
  return post.kind === 'release' ? [] : [{ ...post, workflow, stage, entity }];
}

export class ResultJournal {
  readonly #fd: number;
  readonly #warn: (warning: string) => void;
  readonly #pending: Map<number, Result>;
  #hasTold = false;

  constructor(file: string, warn: (warning: string) => void) {
    mkdirSync(dirname(file), { recursive: true });
    this.#pending = pendingIn(file);
    this.#fd = openSync(file, 'a', 0o600);
    this.#warn = warn;
  }

  pending(): readonly Result[] {
    return [...this.#pending.values()];
  }

  keep(results: readonly Result[]): void {
    if (results.length === 0) return;
    for (const result of results) this.#pending.set(result.item.token, result);
    this.#write(results.map((result) => JSON.stringify(result)).join('\n'));
  }

  taken(tokens: readonly number[]): void {
    const known = tokens.filter((token) => this.#pending.delete(token));
    if (known.length === 0) return;
    if (this.#pending.size === 0) ftruncateSync(this.#fd);
    else this.#write(JSON.stringify({ taken: known }));
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** A disk that is full must not lose what is still in memory. A line that was cut short must not spoil the next. */
  #write(lines: string): void {
    try {
      writeSync(this.#fd, `\n${lines}\n`);
    } catch (error) {
      if (!this.#hasTold)
        this.#warn(
          `results cannot be kept on disk (${(error as Error).message}): one that is not posted is lost if this ends`,
        );
      this.#hasTold = true;
    }
  }
}

function pendingIn(file: string): Map<number, Result> {
  const pending = new Map<number, Result>();
  for (const line of linesOf(file)) {
    const said = parsed(line);
    if (said === null) continue;
    if ('taken' in said) for (const token of said.taken) pending.delete(token);
    else pending.set(said.item.token, said);
  }
  return pending;
}

function parsed(line: string): Result | { readonly taken: readonly number[] } | null {
  try {
    return JSON.parse(line) as Result;
  } catch {
    return null;
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
