// What a control plane was told, as lines that are only ever added to: a drop costs a line, not the whole file.
//
//   {"database":…,"definition":…}     to whom it was told; a file for another says nothing
//   D<device> "/srv/in"               what follows is in this directory
//   +<digest> "a.txt"                 this content was told
//   ? "a.txt"                         it is about to be told something, and may have been
//   - "a.txt"                         it was told to be gone
//   ! "open"                          from here on anything may be told that is not written down yet
//   ! "closed"                        all that was told is written down again

import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../host/atomic-write.ts';
import { unreachable } from '../schema/words.ts';

export type Line =
  | { readonly kind: 'directory'; readonly path: string; readonly device: string }
  | { readonly kind: 'told'; readonly name: string; readonly digest: string }
  | { readonly kind: 'doubt'; readonly name: string }
  | { readonly kind: 'gone'; readonly name: string }
  | { readonly kind: 'open' | 'closed' };

export function textOf(line: Line): string {
  switch (line.kind) {
    case 'directory':
      return `D${line.device} ${JSON.stringify(line.path)}\n`;
    case 'told':
      return `+${line.digest} ${JSON.stringify(line.name)}\n`;
    case 'doubt':
      return `? ${JSON.stringify(line.name)}\n`;
    case 'gone':
      return `- ${JSON.stringify(line.name)}\n`;
    case 'open':
    case 'closed':
      return `! ${JSON.stringify(line.kind)}\n`;
    default:
      return unreachable(line);
  }
}

export interface LinesRead {
  readonly header: string;
  /** `torn`: the last line was cut off, which nobody acted upon. `damaged`: who knows what more was told. */
  readonly end: 'whole' | 'torn' | 'damaged';
}

/** Null if there is no such file. */
export function readLines(file: string, take: (line: Line) => void): LinesRead | null {
  const bytes = readIfThere(file);
  let from = bytes.indexOf(NEWLINE) + 1;
  if (from === 0) return null;
  const header = bytes.toString('utf8', 0, from - 1);
  for (let to = bytes.indexOf(NEWLINE, from); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
    const line = lineOf(bytes.toString('utf8', from, to));
    if (line === null) return { header, end: 'damaged' };
    take(line);
    from = to + 1;
  }
  return { header, end: from === bytes.length ? 'whole' : 'torn' };
}

function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

export function writeLines(file: string, header: string, lines: Iterable<Line>): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomic(file, chunked(header, lines));
}

export function addLines(file: string, lines: readonly Line[]): void {
  appendFileSync(file, lines.map(textOf).join(''));
}

const NEWLINE = 10;

function lineOf(text: string): Line | null {
  const space = text.indexOf(' ');
  const value = stringIn(text.slice(space + 1));
  const rest = text.slice(1, space);
  if (value === null) return null;
  switch (text[0]) {
    case 'D':
      return { kind: 'directory', path: value, device: rest };
    case '+':
      return { kind: 'told', name: value, digest: rest };
    case '?':
      return { kind: 'doubt', name: value };
    case '-':
      return { kind: 'gone', name: value };
    case '!':
      return { kind: value === 'open' ? 'open' : 'closed' };
    default:
      return null;
  }
}

function stringIn(json: string): string | null {
  try {
    const value = JSON.parse(json) as unknown;
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** Joined bit by bit: one string of a hundred thousand lines would be as large again. */
function chunked(header: string, lines: Iterable<Line>): Uint8Array {
  const chunks = [Buffer.from(`${header}\n`)];
  let text = '';
  for (const line of lines) {
    text += textOf(line);
    if (text.length < CHUNK) continue;
    chunks.push(Buffer.from(text));
    text = '';
  }
  return Buffer.concat([...chunks, Buffer.from(text)]);
}

const CHUNK = 65_536;
