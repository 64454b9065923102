// Reads a workflow file from disk, whatever is there: the text, or the one thing that is wrong with it.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { MAX_SOURCE_BYTES } from '../schema/source-document.ts';

export type WorkflowText = { readonly ok: true; readonly text: string } | Unreadable;

export interface Unreadable {
  readonly ok: false;
  readonly code: string;
  /** What the file is, does or has; the sentence begins with its name. */
  readonly message: string;
  readonly hint: string;
  /** Set where a byte of the file is to blame. */
  readonly at?: { readonly line: number; readonly column: number };
}

export function readWorkflowText(path: string): WorkflowText {
  let file: number;
  try {
    // Without O_NONBLOCK, opening a pipe waits for somebody to write into it.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    return unopenable(cause as NodeJS.ErrnoException);
  }
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) return refuse('is-a-directory', 'is a directory', 'name the workflow file in it');
    if (!stat.isFile())
      return refuse('not-a-file', 'is not a regular file', 'save the workflow as a file first');
    if (stat.size > MAX_SOURCE_BYTES) {
      const size = `${Math.ceil(stat.size / 1024 ** 2)} MB`;
      return refuse(
        'too-large',
        `is ${size}; a workflow has at most 8 MB`,
        'name the workflow, not the data it works on',
      );
    }
    return decode(readFileSync(file));
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Uint8Array): WorkflowText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { ok: true, text };
  } catch {
    // Not UTF-8: told below, like a NUL.
  }
  const offset = firstUnreadable(bytes);
  const byte = bytes[offset]!;
  const what = byte === 0 ? 'a NUL byte' : `the byte 0x${byte.toString(16)}`;
  const before = new TextDecoder().decode(bytes.subarray(0, offset)).split('\n');
  const at = { line: before.length, column: [...before.at(-1)!].length + 1 };
  const message = `is not text in UTF-8: it has ${what} here`;
  return { ...refuse('binary-file', message, 'name a YAML or JSON file, saved as UTF-8'), at };
}

/** What a decoder cannot read it replaces, so the bytes differ from there on once they are encoded again. */
function firstUnreadable(bytes: Uint8Array): number {
  const again = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  let offset = bytes.findIndex((byte, i) => byte === 0 || byte !== again[i]);
  // A bad sequence may begin with the same bytes as the replacement.
  while (offset > 0 && (again[offset]! & 0xc0) === 0x80) offset--;
  return offset;
}

function unopenable({ code, message }: NodeJS.ErrnoException): Unreadable {
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return refuse('missing-file', 'does not exist', 'check the name, or run `sluice init` to make a starter');
  }
  if (code === 'EACCES') return refuse('unreadable-file', 'may not be read', 'check its permissions');
  return refuse('unreadable-file', `cannot be read: ${message}`, 'check the file');
}

function refuse(code: string, message: string, hint: string): Unreadable {
  return { ok: false, code, message, hint };
}
