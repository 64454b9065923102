// Reads a workflow file from disk, whatever is there: the text, or the one thing that is wrong with it.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { MAX_SOURCE_BYTES } from '../schema/source-document.ts';

export type WorkflowText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint: string };

export function readWorkflowText(path: string): WorkflowText {
  let file: number;
  try {
    file = openSync(path, 'r');
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
  return refuse('binary-file', 'is not text in UTF-8', 'name a YAML or JSON file, saved as UTF-8');
}

function unopenable({ code, message }: NodeJS.ErrnoException): WorkflowText {
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return refuse('missing-file', 'does not exist', 'check the name, or run `sluice init` to make a starter');
  }
  if (code === 'EACCES') return refuse('unreadable-file', 'may not be read', 'check its permissions');
  return refuse('unreadable-file', `cannot be read: ${message}`, 'check the file');
}

function refuse(code: string, message: string, hint: string): WorkflowText {
  return { ok: false, code, message, hint };
}
