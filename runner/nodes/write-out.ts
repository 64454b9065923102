// Writes a node's out, whole: the place is the attempt's own, so nobody sees it before the caller renames it.

import { rmSync, statSync, writeFileSync } from 'node:fs';
import type { Json } from '../../schema/words.ts';
import { failed, failedForNow, MADE, type NodeResult } from './result.ts';

export function writeOut(out: string, bytes: string | Uint8Array): NodeResult {
  if (out.endsWith('/') || statSync(out, { throwIfNoEntry: false })?.isDirectory())
    return failed(
      'this node makes one file, but the pattern of its stage is a directory; drop the / at its end',
    );
  try {
    writeFileSync(out, bytes);
    return MADE;
  } catch (error) {
    rmSync(out, { force: true });
    return whyUnwritten(error);
  }
}

/** The same value gives the same bytes, so that what reads it is not run again for nothing. */
export function writeJson(out: string, value: Json): NodeResult {
  return writeOut(out, `${JSON.stringify(value, null, 2)}\n`);
}

function whyUnwritten(error: unknown): NodeResult {
  if (!(error instanceof Error) || !('code' in error)) throw error;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return failedForNow(`the disk is full (${error.code}): free some space on it`);
  return failed(`the out could not be written: ${error.message}`);
}
