// `watch: {sentinel: "{x}.done"}`: a file is taken once the file beside it is there that says that it is whole.

import { basename, dirname, join } from 'node:path';
import type { Disk } from '../host/disk.ts';
import { expandPattern, matchPattern, type Pattern, parsePattern } from '../schema/pattern.ts';
import type { Found } from './scan.ts';

export class Sentinel {
  readonly #pattern: Pattern;
  readonly #disk: Disk;
  /** Which file is taken when its sentinel comes. */
  readonly #waiting = new Map<string, string>();

  constructor(written: string, disk: Disk) {
    const parsed = parsePattern(written);
    if (!parsed.ok) throw new Error(`not a pattern after loading: ${written}`);
    this.#pattern = parsed.pattern;
    this.#disk = disk;
  }

  /** A sentinel itself says something and holds nothing. */
  allows(path: string, found: Found | null): boolean {
    const sentinel = this.#of(path, found);
    if (sentinel === null || matchPattern(this.#pattern, basename(path)) !== null) return false;
    if (this.#disk.stat(sentinel) !== null) {
      this.#waiting.delete(sentinel);
      return true;
    }
    this.#waiting.set(sentinel, path);
    return false;
  }

  waitingFor(sentinel: string): string | undefined {
    return this.#waiting.get(sentinel);
  }

  /** With the values of the path's own pattern if it has them, else any variable is the whole name. */
  #of(path: string, found: Found | null): string | null {
    const own = Object.fromEntries(this.#pattern.variables.map((name) => [name, basename(path)]));
    const bindings = found?.matches.find(({ bindings: values }) =>
      this.#pattern.variables.every((name) => values[name] !== undefined),
    )?.bindings;
    const name = expandPattern(this.#pattern, bindings ?? own);
    return name === null ? null : join(dirname(path), name);
  }
}
