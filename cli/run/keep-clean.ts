// Keeps the verdict of a run that found nothing to do, so that the next one need only see that nothing has changed.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CleanLook, writeClean } from '../../host/clean-snapshot.ts';
import { DISK } from '../../host/disk.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { Reported } from '../../watcher/reported.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import { type CleanSummary, cleanFile, cleanKey } from './clean-place.ts';
import type { LockRecords } from './lock-records.ts';
import { lockPathOf } from './look.ts';
import type { Machine } from './machine.ts';

export interface CleanRequest {
  readonly loaded: LoadedWorkflow;
  readonly project: string;
  readonly set: Readonly<Record<string, unknown>>;
  readonly asked: string | undefined;
  readonly force: boolean;
}

interface Kept {
  readonly machine: Machine;
  readonly lock: LockRecords;
  readonly reported: Reported;
  /** `.sluice/` of the project. */
  readonly own: string;
  readonly lookedAtMs: number;
}

/** Called when the database is closed: from here on only another process can change it, and its stamp tells. */
export function keepClean(request: CleanRequest, cached: number, kept: Kept): void {
  const { loaded, project, set, asked, force } = request;
  const { machine, lock, own, lookedAtMs } = kept;
  if (force || machine.looks.isTorn || loaded.workflow.stages.some(isAlwaysDue)) return;
  const lockPath = lockPathOf(loaded.path);
  const texts = [
    lookAtBytes(loaded.path, Buffer.from(loaded.text), machine),
    ...(lock.bytes === null ? [] : [lookAtBytes(lockPath, lock.bytes, machine)]),
  ];
  const database = join(own, 'state.db');
  if (texts.includes(null) || hasLog(database)) return;
  const summary: CleanSummary = { workflow: loaded.workflow.name, cached };
  writeClean(cleanFile(project, loaded.path), {
    key: cleanKey(loaded.path, set, asked),
    summary,
    looks: [...detailed(kept), ...(texts as CleanLook[])],
    own: [database],
    empty: [`${database}-wal`],
    lookedAtMs,
  });
}

function* detailed({ machine, reported }: Kept): Generator<CleanLook> {
  const { looks, digestOf } = machine;
  const told = [...looks.all()].filter(({ path, how }) => how === 'stat' && reported.has(path));
  const trees = told.flatMap(({ path, stamp }) => (stamp?.kind === 'directory' ? [`${path}/`] : []));
  const isInTree = (path: string) => trees.some((tree) => path.startsWith(tree));
  for (const look of looks.all()) {
    const { path, how, stamp, listing } = look;
    const digest = listing ?? (stamp === null ? null : digestOf(path, stamp));
    const isTold = how === 'stat' && stamp?.kind === 'file' && reported.has(path) && !isInTree(path);
    yield { ...look, digest, isTold };
  }
}

/** What is still in the write-ahead log is not in the file, whose stamp would then say too little. */
export function hasLog(database: string): boolean {
  return (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Its stamp, if what is there is what was read. */
function lookAtBytes(path: string, bytes: Buffer, { hash }: Machine): CleanLook | null {
  const stamp = DISK.stat(path);
  if (stamp === null || !readFileSync(path).equals(bytes)) return null;
  return { path, how: 'stat', stamp, digest: hash(bytes), isTold: false };
}

function isAlwaysDue({ deterministic, kind, deps, after, secrets }: Stage): boolean {
  // The environment is not looked at by a snapshot.
  return (
    !deterministic || secrets.length > 0 || (kind === 'action' && deps.length === 0 && after.length === 0)
  );
}
