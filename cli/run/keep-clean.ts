// Keeps the verdict of a run that found nothing to do, so that the next one need only see that nothing has changed.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeClean } from '../../host/clean-snapshot.ts';
import { DISK } from '../../host/disk.ts';
import type { Looked } from '../../host/look-record.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import { type CleanSummary, cleanFile, cleanKey } from './clean-place.ts';
import type { LockRecords } from './lock-records.ts';
import type { Machine } from './machine.ts';

export interface CleanRequest {
  readonly loaded: LoadedWorkflow;
  readonly project: string;
  readonly set: Readonly<Record<string, unknown>>;
  readonly stage: string | undefined;
  readonly force: boolean;
}

interface Kept {
  readonly machine: Machine;
  readonly lock: LockRecords;
  /** `.sluice/` of the project. */
  readonly own: string;
  readonly lookedAtMs: number;
}

/** Called when the database is closed: from here on only another process can change it, and its stamp tells. */
export function keepClean(
  request: CleanRequest,
  cached: number,
  { machine, lock, own, lookedAtMs }: Kept,
): void {
  const { loaded, project, set, stage, force } = request;
  const { looks } = machine;
  if (force || looks.isTorn || loaded.workflow.stages.some(isAlwaysDue)) return;
  const lockPath = `${loaded.path.replace(/\.(ya?ml|json)$/i, '')}.lock.yaml`;
  const texts = [look(loaded.path, loaded.text), ...(lock.text === null ? [] : [look(lockPath, lock.text)])];
  const database = join(own, 'state.db');
  if (texts.includes(null) || hasLog(database)) return;
  const summary: CleanSummary = { workflow: loaded.workflow.name, cached };
  writeClean(cleanFile(project, loaded.path), {
    key: cleanKey(loaded.path, set, stage),
    summary,
    looks: [...looks.all(), ...(texts as Looked[])],
    own: [database],
    lookedAtMs,
  });
}

/** What is still in the write-ahead log is not in the file, whose stamp would then say too little. */
function hasLog(database: string): boolean {
  return (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Its stamp, if what is there is what was read. */
function look(path: string, text: string): Looked | null {
  const stamp = DISK.stat(path);
  return stamp !== null && readFileSync(path, 'utf8') === text ? { path, how: 'stat', stamp } : null;
}

function isAlwaysDue({ deterministic, kind, deps, after, secrets }: Stage): boolean {
  // The environment is not looked at by a snapshot.
  return (
    !deterministic || secrets.length > 0 || (kind === 'action' && deps.length === 0 && after.length === 0)
  );
}
