// Reads a file for a node: its bytes, or what they say as text or JSON.

import { readFileSync } from 'node:fs';
import { DISK, whyUnreadable } from '../../host/disk.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { Json } from '../../schema/words.ts';
import { failed, type Limits, noPart, type Part, part } from './result.ts';

export interface FileRequest {
  /** As the workflow names it, for messages. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly limits: Limits;
}

export function readBytes({ path, file, limits }: FileRequest): Part<Buffer> {
  const reason = whyNotRead(file, limits.inputBytes);
  if (reason !== null) return noPart(`cannot read '${shown(path)}': ${reason}`);
  try {
    return part(readFileSync(file));
  } catch (error) {
    return noPart(`cannot read '${shown(path)}': ${whyUnreadable(error) ?? 'it is gone'}`);
  }
}

/** A file called `.json` is always read as JSON, any other only when a field of it is asked for. */
export function readContent(request: FileRequest & { readonly asJson: boolean }): Part<Json> {
  const bytes = readBytes(request);
  if (!bytes.ok) return bytes;
  const text = bytes.value.toString('utf8');
  if (!request.asJson && !request.path.endsWith('.json')) return part(text);
  try {
    return part(parseExactly(text));
  } catch (error) {
    const said = error instanceof Error ? shown(error.message) : '';
    return { ok: false, failed: failed(`'${shown(request.path)}' is not JSON: ${said}`) };
  }
}

function whyNotRead(file: string, maxBytes: number): string | null {
  try {
    const stamp = DISK.stat(file);
    if (stamp === null) return 'there is no such file';
    if (stamp.kind !== 'file') return stamp.kind === 'directory' ? 'it is a directory' : 'it is not a file';
    return stamp.size > maxBytes ? `it has ${stamp.size} bytes, more than the limit of ${maxBytes}` : null;
  } catch (error) {
    return whyUnreadable(error);
  }
}

/** Integers that a number cannot hold keep their digits as text: ids of posts have 19, and none may be rounded. */
export function parseExactly(text: string): Json {
  const value = JSON.parse(text) as Json;
  return /\d{16}/.test(text) ? (JSON.parse(withLongIntegersAsText(text)) as Json) : value;
}

/** Only for text that is JSON already. */
function withLongIntegersAsText(text: string): string {
  let written = '';
  let from = 0;
  for (let at = 0; at < text.length; ) {
    if (text[at] === '"') at = endOfString(text, at);
    else if (/[-\d]/.test(text[at]!)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (/^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))) {
        written += `${text.slice(from, at)}"${number}"`;
        from = end;
      }
      at = end;
    } else at++;
  }
  return written + text.slice(from);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && /[\d.eE+-]/.test(text[at]!)) at++;
  return at;
}
