// What a control plane was last told about each path of a workflow, so that only differences are sent.

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../host/atomic-write.ts';
import type { Observation } from '../schema/wire.ts';

/** What was told counts only for this database and this definition: to others everything is news. */
export interface Addressee {
  readonly database: number;
  readonly definition: string;
}

export class Reported {
  readonly #file: string;
  readonly #addressee: Addressee;
  readonly #hashes: Map<string, string>;
  #changed = false;

  constructor(file: string, addressee: Addressee) {
    this.#file = file;
    this.#addressee = addressee;
    this.#hashes = read(file, addressee);
  }

  /** Those that were there. */
  paths(): string[] {
    return [...this.#hashes.keys()];
  }

  has(path: string): boolean {
    return this.#hashes.has(path);
  }

  isNews(observation: Observation): boolean {
    return 'gone' in observation || this.#hashes.get(observation.path) !== observation.hash;
  }

  took(observation: Observation): void {
    if ('gone' in observation) this.#hashes.delete(observation.path);
    else this.#hashes.set(observation.path, observation.hash);
    this.#changed = true;
  }

  save(): void {
    if (!this.#changed) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileAtomic(this.#file, JSON.stringify({ ...this.#addressee, hashes: [...this.#hashes] }));
    this.#changed = false;
  }
}

/** A file that cannot be read, or was written for another, only means that everything is said again. */
function read(file: string, addressee: Addressee): Map<string, string> {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Addressee & { hashes: [string, string][] };
    const isSame = kept.database === addressee.database && kept.definition === addressee.definition;
    return new Map(isSame ? kept.hashes : []);
  } catch {
    return new Map();
  }
}
