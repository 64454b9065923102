// Which bytes this machine itself has put at which path: what tells a person's edit from an output that differs.

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../host/atomic-write.ts';
import type { Blake3 } from '../../schema/words.ts';

export class MadeOutputs {
  readonly #path: string;
  readonly #made: Map<string, Blake3>;
  #changed = false;

  constructor(path: string) {
    this.#path = path;
    this.#made = read(path);
  }

  /** Undefined after an attempt was begun and did not end well: what is there then is nobody's edit. */
  hashAt(path: string): Blake3 | undefined {
    return this.#made.get(path);
  }

  /** To be saved before a command may touch the path, so that a crash cannot make its leavings look like an edit. */
  forget(paths: readonly string[]): void {
    for (const path of paths) if (this.#made.delete(path)) this.#changed = true;
    this.save();
  }

  remember(path: string, hash: Blake3): void {
    this.#made.set(path, hash);
    this.#changed = true;
  }

  save(): void {
    if (!this.#changed) return;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileAtomic(this.#path, JSON.stringify([...this.#made]));
    this.#changed = false;
  }
}

/** A file that cannot be read only means that nothing counts as an edit. */
function read(path: string): Map<string, Blake3> {
  try {
    return new Map(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return new Map();
  }
}
