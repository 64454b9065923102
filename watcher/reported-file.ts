// What a control plane was told, as lines that are only ever added to: a drop costs a line, not the whole file.
//
//   {"database":…,"definition":…}     to whom it was told; a file for another says nothing
//   D<device> "/srv/in"               what follows is in this directory
//   +<digest> "a.txt"                 this content was told
//   ? "a.txt"                         it is about to be told something, and may have been
//   - "a.txt"                         it was told to be gone

import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../host/atomic-write.ts';

export type Line =
  | { readonly kind: 'directory'; readonly path: string; readonly device: string }
  | { readonly kind: 'told'; readonly name: string; readonly digest: string }
  | { readonly kind: 'doubt'; readonly name: string }
  | { readonly kind: 'gone'; readonly name: string };

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
  }
}

/**
 * `none`: not there, not readable, or for somebody else, and nothing counts of what was taken. `torn`: the last line
 * was cut off, which nobody acted upon.
 */
export function readLines(
  file: string,
  header: string,
  take: (line: Line) => void,
): 'whole' | 'torn' | 'none' {
  try {
    const bytes = readFileSync(file);
    let from = bytes.indexOf(NEWLINE) + 1;
    if (from === 0 || bytes.toString('utf8', 0, from - 1) !== header) return 'none';
    for (let to = bytes.indexOf(NEWLINE, from); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
      take(lineOf(bytes.toString('utf8', from, to)));
      from = to + 1;
    }
    return from === bytes.length ? 'whole' : 'torn';
  } catch {
    return 'none';
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

function lineOf(text: string): Line {
  const space = text.indexOf(' ');
  const value = JSON.parse(text.slice(space + 1)) as string;
  const rest = text.slice(1, space);
  switch (text[0]) {
    case 'D':
      return { kind: 'directory', path: value, device: rest };
    case '+':
      return { kind: 'told', name: value, digest: rest };
    case '?':
      return { kind: 'doubt', name: value };
    case '-':
      return { kind: 'gone', name: value };
    default:
      throw new Error(`not a line of what was told: ${text}`);
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
