// `.manifest.jsonl` in a fan-out's output directory: one line for each file that is done, for people, for tools, and
// for the day when the database is gone (SEMANTICS 11).
//
// A line vouches for an output only under the key that it was made with: the same input under another command or
// other params is another key. The last line about an input counts. No hash of a directory sees the file.

import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Blake3 } from '../schema/words.ts';

export interface ManifestLine {
  /** As the workflow names them: relative to its directory if its paths are. */
  readonly input: string;
  readonly output: string;
  readonly input_hash: Blake3;
  readonly output_hash: Blake3;
  readonly cache_key: Blake3;
  readonly completed_at: string;
}

export const MANIFEST = '.manifest.jsonl';

/** Of one run; each file is read once, when something of it is first asked for. */
export class Manifests {
  readonly #read = new Map<string, Map<string, ManifestLine>>();

  find(directory: string, input: string): ManifestLine | undefined {
    return this.#linesOf(directory).get(input);
  }

  add(directory: string, line: ManifestLine): void {
    this.#read.get(directory)?.set(line.input, line);
    try {
      appendLine(join(directory, MANIFEST), JSON.stringify(line));
    } catch {
      // The output itself is made; without its line it is at worst made once more.
    }
  }

  #linesOf(directory: string): Map<string, ManifestLine> {
    let lines = this.#read.get(directory);
    if (lines === undefined) {
      lines = readManifest(directory);
      this.#read.set(directory, lines);
    }
    return lines;
  }
}

/** What cannot be understood is passed over: the file only ever saves work. */
export function readManifest(directory: string): Map<string, ManifestLine> {
  const lines = new Map<string, ManifestLine>();
  for (const text of textOf(join(directory, MANIFEST)).split('\n')) {
    const line = parsed(text);
    if (line !== null) lines.set(line.input, line);
  }
  return lines;
}

const FIELDS = ['input', 'output', 'input_hash', 'output_hash', 'cache_key', 'completed_at'] as const;

function parsed(text: string): ManifestLine | null {
  if (text === '') return null;
  try {
    const line = JSON.parse(text) as ManifestLine;
    return FIELDS.every((field) => typeof line[field] === 'string') ? line : null;
  } catch {
    return null;
  }
}

/** Nobody may be able to read the directory, and then nothing is known. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** In one write; after a line that a crash or a full disk cut short it begins a new one. */
function appendLine(file: string, line: string): void {
  const fd = openSync(file, 'a+');
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const isWhole = size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 10);
    writeSync(fd, `${isWhole ? '' : '\n'}${line}\n`);
  } finally {
    closeSync(fd);
  }
}
