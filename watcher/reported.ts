// What a control plane was last told about each path of a workflow, so that only differences are sent.
//
//   {"database": …, "definition": …, "hashes": [["PATH", "HASH"], …]}    as it was when all of it was written
//   "open"                                                               from here on something is being told
//   [["PATH", "HASH"], ["GONE"], …]                                      what was, and all of it is in the file again
//
// Whoever dies in between leaves it open: then nobody knows what was told, and all of it is told again.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../host/atomic-write.ts';
import type { Observation } from '../schema/wire.ts';

/** What was told counts only for this database and this definition: to others everything is news. */
export interface Addressee {
  readonly database: number;
  readonly definition: string;
}

/** Of a path that was there with a content that nobody knows. */
const UNKNOWN = '';
/** Written anew when what was added to it is this part of what was there. */
const ROOMY = 0.5;

export class Reported {
  readonly #file: string;
  readonly #addressee: Addressee | null;
  readonly #news = new Map<string, string | null>();
  #kept: Kept | null = null;
  #isOpen = false;

  /** Without an addressee it is the one that the file was written for, and what is in it is not asked for. */
  constructor(file: string, addressee: Addressee | null) {
    this.#file = file;
    this.#addressee = addressee;
  }

  /** Those that were there. */
  paths(): string[] {
    return [...this.#hashes().keys()];
  }

  has(path: string): boolean {
    return this.#hashes().has(path);
  }

  isNews(observation: Observation): boolean {
    return 'gone' in observation || this.#hashes().get(observation.path) !== observation.hash;
  }

  /** To be called before anything is told. */
  open(): void {
    if (this.#isOpen) return;
    if (existsSync(this.#file)) appendFileSync(this.#file, '"open"\n');
    this.#isOpen = true;
  }

  took(observation: Observation): void {
    this.open();
    const hash = 'gone' in observation ? null : observation.hash;
    this.#news.set(observation.path, hash);
    if (this.#kept === null) return;
    if (hash === null) this.#kept.hashes.delete(observation.path);
    else this.#kept.hashes.set(observation.path, hash);
  }

  /** What was told by this process since it was last saved; null is gone. */
  news(): ReadonlyMap<string, string | null> {
    return this.#news;
  }

  save(): void {
    if (!this.#isOpen) return;
    const added = [...this.#news].map(([path, hash]) => (hash === null ? [path] : [path, hash]));
    mkdirSync(dirname(this.#file), { recursive: true });
    if (this.#kept?.isRewritten) {
      writeFileAtomic(
        this.#file,
        `${JSON.stringify({ ...this.#addressee, hashes: [...this.#kept.hashes] })}\n`,
      );
      this.#kept.isRewritten = false;
    } else appendFileSync(this.#file, `${JSON.stringify(added)}\n`);
    this.#isOpen = false;
    this.#news.clear();
  }

  #hashes(): Map<string, string> {
    if (this.#addressee === null) throw new Error('what was told before is not asked for here');
    this.#kept ??= read(this.#file, this.#addressee);
    return this.#kept.hashes;
  }
}

interface Kept {
  readonly hashes: Map<string, string>;
  /** It is not enough to add something to the file. */
  isRewritten: boolean;
}

/** A file that cannot be read, or was written for another, only means that everything is said again. */
function read(file: string, { database, definition }: Addressee): Kept {
  const [first = '', ...added] = linesOf(file);
  const written = parsed(first) as (Addressee & { readonly hashes: [string, string][] }) | undefined;
  if (!Array.isArray(written?.hashes)) return { hashes: new Map(), isRewritten: true };
  const hashes = new Map(written.hashes);
  let isOpen = false;
  let bytes = 0;
  for (const line of added) {
    const value = parsed(line);
    isOpen = !Array.isArray(value);
    bytes += line.length;
    if (Array.isArray(value)) take(value as readonly (readonly [string, string?])[], hashes);
  }
  const isKnown = !isOpen && written.database === database && written.definition === definition;
  // Their names are kept, so that those which are gone by now are told, too.
  if (!isKnown) for (const path of hashes.keys()) hashes.set(path, UNKNOWN);
  return { hashes, isRewritten: !isKnown || bytes > ROOMY * first.length };
}

function take(added: readonly (readonly [string, string?])[], hashes: Map<string, string>): void {
  for (const [path, hash] of added) {
    if (hash === undefined) hashes.delete(path);
    else hashes.set(path, hash);
  }
}

function linesOf(file: string): string[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    // What stands behind the last newline was cut off.
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  } catch {
    return [];
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
