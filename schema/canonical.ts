// Canonical bytes: one value, one byte string, on every machine and in every locale.
//
// Every item is a tag and, where its size varies, a length before its content, so no two different values
// can run together into the same bytes. Maps are sorted by code point, never by locale.

import type { Json } from './words.ts';

/** Part of every preimage. A change to the rules below must change it, and with it every key. */
const FORMAT = 'sluice:1';

/** `domain` keeps apart what is hashed for different purposes, so that one can never stand for another. */
export function canonicalBytes(domain: string, value: Json): Uint8Array {
  const writer = new Writer();
  writer.text(FORMAT);
  writer.text(domain);
  write(writer, value);
  return writer.done();
}

/** Orders strings by code point, which is also the order of their UTF-8 bytes. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return fixSurrogate(x) - fixSurrogate(y);
  }
  return a.length - b.length;
}

/** Moves surrogates above the rest of the basic plane, where their code points belong. */
function fixSurrogate(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

function write(writer: Writer, value: Json): void {
  if (value === null) writer.tag('n');
  else if (typeof value === 'boolean') writer.tag(value ? 't' : 'f');
  else if (typeof value === 'number') writeNumber(writer, value);
  else if (typeof value === 'string') {
    writer.tag('s');
    writer.text(value);
  } else if (Array.isArray(value)) {
    writer.tag('l');
    writer.length(value.length);
    for (const item of value) write(writer, item);
  } else writeMap(writer, value as { readonly [key: string]: Json });
}

function writeNumber(writer: Writer, value: number): void {
  if (!Number.isFinite(value))
    throw new RangeError(`a number that is not finite has no canonical form: ${value}`);
  writer.tag('d');
  // ECMAScript fixes the shortest decimal form exactly; -0 is 0.
  writer.text(String(value === 0 ? 0 : value));
}

function writeMap(writer: Writer, value: { readonly [key: string]: Json }): void {
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  keys.sort(compareCodePoints);
  writer.tag('m');
  writer.length(keys.length);
  for (const key of keys) {
    writer.text(key);
    write(writer, value[key]!);
  }
}

const encoder = new TextEncoder();

class Writer {
  #bytes = new Uint8Array(256);
  #size = 0;

  tag(letter: string): void {
    this.#reserve(1);
    this.#bytes[this.#size++] = letter.charCodeAt(0);
  }

  text(text: string): void {
    if (!text.isWellFormed()) throw new RangeError('text with a lone surrogate has no canonical form');
    const encoded = encoder.encode(text);
    this.length(encoded.length);
    this.#reserve(encoded.length);
    this.#bytes.set(encoded, this.#size);
    this.#size += encoded.length;
  }

  /** LEB128; lengths of real values stay far below 2^31. */
  length(length: number): void {
    this.#reserve(5);
    let rest = length;
    while (rest >= 0x80) {
      this.#bytes[this.#size++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#size++] = rest;
  }

  done(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  #reserve(more: number): void {
    if (this.#size + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#size + more));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }
}
