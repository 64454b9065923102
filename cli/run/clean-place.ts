// Where the verdict of a clean run is kept, and for which question. Light on purpose: it is looked at first.

import { join, relative } from 'node:path';
import type { CleanSnapshot } from '../../host/clean-snapshot.ts';

declare const SLUICE_VERSION: string;

export interface CleanSummary {
  readonly workflow: string;
  readonly cached: number;
}

/** A snapshot that holds but for the content of these files. */
export interface Changed {
  readonly summary: CleanSummary;
  readonly snapshot: CleanSnapshot;
}

export function cleanFile(project: string, workflowFile: string): string {
  return join(project, '.sluice', 'clean', encodeURIComponent(relative(project, workflowFile)));
}

export function cleanKey(
  path: string,
  set: Readonly<Record<string, unknown>>,
  stage: string | undefined,
): string {
  return JSON.stringify([SLUICE_VERSION, path, set, stage ?? null]);
}
