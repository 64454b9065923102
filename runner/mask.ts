// Takes the values of secrets out of what people and other machines may read, also as encoders write them: base64 at each
// of its three alignments, URL, hex, JSON and shell quoting.
//
// Text is looked at byte by byte (as latin1), so that a log need not be in any encoding.

import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';

export interface Mask {
  text(text: string): string;
  /** Moves a file to another place with the secrets taken out; nothing happens if it is not there. */
  file(from: string, to: string): void;
}

export const MASKED = '***';
const CHUNK_BYTES = 1 << 20;
/** Shorter encodings of short secrets would be found in anything. */
const SHORTEST_ENCODED = 4;
/** A key of many lines is often shown line by line. */
const SHORTEST_LINE = 8;

/** Null if there is nothing to take out. */
export function maskOf(secrets: readonly string[]): Mask | null {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form !== '');
  if (forms.length === 0) return null;
  const search: Search = { forms, broken: forms.filter((form) => BREAKABLE.test(form)) };
  return {
    text: (text) => latin1ToText(masked(textToLatin1(text), search).done),
    file: (from, to) => moveMasked(from, to, search),
  };
}

interface Search {
  readonly forms: readonly string[];
  /** Those that stand in several lines where `base64`, `xxd` and their like wrote them. */
  readonly broken: readonly string[];
}

const BREAKABLE = /^[A-Za-z0-9+/_-]{32,}$/;

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.trim().length >= SHORTEST_LINE);
  const encoded = [secret, secret.trim()].flatMap(encodedForms);
  return [
    ...[secret, secret.trim(), ...lines].map(textToLatin1),
    ...encoded.filter((form) => form.length >= SHORTEST_ENCODED),
  ];
}

function encodedForms(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const json = textToLatin1(JSON.stringify(text).slice(1, -1));
  const url = encodeURIComponent(text);
  const strictUrl = url.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return [
    ...[0, 1, 2].flatMap((shift) => base64At(bytes, shift)),
    ...[hex, hex.toUpperCase(), json, json.replaceAll('/', '\\/')],
    ...[url, strictUrl].flatMap((form) => [form, form.replaceAll('%20', '+'), lowerEscapes(form)]),
    textToLatin1(text.replaceAll("'", "'\\''")),
    textToLatin1(text.replaceAll("'", `'"'"'`)),
    textToLatin1(text.replace(/["$`\\]/g, '\\$&')),
    textToLatin1(text.replace(/[^\w@%+=:,./-]/g, '\\$&')),
  ];
}

function lowerEscapes(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** As it stands in something longer, that many bytes before it: without what also depends on its neighbours. */
function base64At(bytes: Buffer, shift: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = shift === 0 ? 0 : shift + 1;
  const last = (shift + bytes.length) % 3 === 0 ? whole.length : whole.length - 1;
  // Up to where the next bytes matter, and as it is where there are none.
  const ends = [whole.slice(first, last), whole.slice(first)];
  return ends.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function moveMasked(from: string, to: string, search: Search): void {
  let source: number;
  try {
    source = openSync(from, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const target = openSync(to, 'w', 0o600);
  // What begins further from the end than any form is long, line breaks included, is all there.
  const longest = 2 * Math.max(...search.forms.map(({ length }) => length));
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let rest = ''; ; ) {
      const count = readSync(source, chunk, 0, chunk.length, null);
      const { done, left } = masked(
        rest + chunk.toString('latin1', 0, count),
        search,
        count === 0 ? 0 : longest,
      );
      writeSync(target, Buffer.from(done, 'latin1'));
      rest = left;
      if (count === 0) break;
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
  unlinkSync(from);
}

/** Of the last `held` characters only those that belong to something that begins before them. */
function masked(text: string, search: Search, held = 0): { readonly done: string; readonly left: string } {
  const end = Math.max(0, text.length - held);
  const found = [...placesIn(text, search)].sort(([a], [b]) => a - b);
  let [done, at] = ['', 0];
  for (const [from, to] of found) {
    if (from >= end) break;
    // What overlaps is one.
    if (from >= at) done += text.slice(at, from) + MASKED;
    at = Math.max(at, to);
  }
  const until = Math.max(at, end);
  return { done: done + text.slice(at, until), left: text.slice(until) };
}

type Place = readonly [from: number, to: number];

function* placesIn(text: string, { forms, broken }: Search): Generator<Place> {
  yield* placesOf(forms, text);
  if (broken.length === 0 || !text.includes('\n')) return;
  const lines = text.split(/\r?\n/);
  const whole = lines.join('');
  // Where each line begins in the whole and in the text.
  const starts = [0, ...[...text.matchAll(/\r?\n/g)].map(({ index, 0: breaks }) => index + breaks.length)];
  const offsets: number[] = [];
  let joined = 0;
  for (const { length } of lines) {
    offsets.push(joined);
    joined += length;
  }
  const place = (at: number) => {
    let [low, high] = [0, offsets.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (offsets[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return starts[low]! + at - offsets[low]!;
  };
  for (const [from, to] of placesOf(broken, whole)) yield [place(from), place(to - 1) + 1];
}

function* placesOf(forms: readonly string[], text: string): Generator<Place> {
  for (const form of forms)
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) yield [at, at + form.length];
}

function textToLatin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function latin1ToText(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
