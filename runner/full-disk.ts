// Whether an attempt failed because a disk is full: that is no fault of the command, and trying again is no help.

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Less than this left, and next to nothing can be written. */
const NOTHING_LEFT_BYTES = 64 * 1024;
const SAID_SO = /\b(ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/;

/** The directory that has no room left, or null. `said` is what it said of itself, and of all it said the end. */
export function fullDisk(places: readonly string[], said: string): string | null {
  const full = places
    .map((path) => dirname(path))
    .find((directory) => leftIn(directory) < NOTHING_LEFT_BYTES);
  // What it had written may have been removed by itself meanwhile.
  return full ?? (SAID_SO.test(said) ? dirname(places[0]!) : null);
}

export function isFullDiskError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(ENOSPC|EDQUOT)$/.test(String(error.code));
}

function leftIn(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    // It is not there, so it is not what is full.
    return Number.POSITIVE_INFINITY;
  }
}
