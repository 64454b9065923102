// Goes on from the last verdict of nothing to do, where only the content of some files has changed since: these are
// told, and nothing else is looked at, registered or read again.
//
// All that the long way would find out stands in the snapshot: the definition is registered, the lock file is ours and
// complete, every other path is as it was told. The verdict itself is the control plane's, as ever.

import { join } from 'node:path';
import type { Blake3Implementation } from '../../host/blake3.ts';
import type { Observation } from '../../schema/wire.ts';
import type { Stage } from '../../schema/workflow.ts';
import { send } from '../../watcher/report.ts';
import { Reported } from '../../watcher/reported.ts';
import type { Changed } from './clean-place.ts';
import { hasLog } from './keep-clean.ts';
import type { LockRecords } from './lock-records.ts';
import { lockPathOf, type Place, RUNNER, reportedFile, TARGET, unusable, type Watching } from './look.ts';
import type { RunOutcome, RunRequest } from './run-parts.ts';

interface Read {
  readonly lock: LockRecords;
  readonly blake3: Blake3Implementation;
}

/** Asked once the project is ours: from here on nobody else changes what the snapshot is about. */
export function canGoOn(
  changed: Changed | null,
  { loaded }: RunRequest,
  { lock, blake3 }: Read,
): changed is Changed {
  // What is in a directory is only known by looking, once it was made anew.
  if (changed === null || loaded.workflow.stages.some(makesDirectory)) return false;
  const { snapshot } = changed;
  return (
    snapshot.isCurrent() &&
    snapshot.vouchesFor(loaded.path, blake3.hash(Buffer.from(loaded.text))) &&
    (!lock.exists || snapshot.vouchesFor(lockPathOf(loaded.path), lock.digest()))
  );
}

function makesDirectory({ outs }: Stage): boolean {
  return outs.some(({ path }) => path.endsWith('/'));
}

/** Of one file among many it is quicker to read the many again than to load what is known of all. */
export function readsMany({ loaded }: RunRequest): boolean {
  return loaded.workflow.stages.some(({ deps }) =>
    deps.some(({ path, binding }) => binding === 'collected' || path.endsWith('/')),
  );
}

/** Tells what has changed; what was told before is not asked for, so that it need not be read. */
export async function tellChanged(paths: readonly string[], place: Place): Promise<Watching> {
  const { machine, root, client } = place;
  const reported = new Reported(reportedFile(place), null);
  const watching = { ...machine, client, target: TARGET, watcher: RUNNER, root, reported, patterns: [] };
  await send(await observed(paths, place), watching);
  return watching;
}

async function observed(paths: readonly string[], { machine }: Place): Promise<Observation[]> {
  const observations: Observation[] = [];
  for (const path of paths) {
    const content = await machine.hasher.hashPathInSlices(path);
    if (content.kind === 'unreadable') throw unusable(content);
    if (content.kind === 'missing') observations.push({ path, gone: true });
    else observations.push({ path, hash: content.hash, size: content.size });
  }
  return observations;
}

export interface Ended {
  readonly outcome: RunOutcome;
  /** What was told in this run, by path; null is gone. */
  readonly told: ReadonlyMap<string, string | null>;
}

/** Keeps the verdict for the next run, if all was made and nothing else was found out; called as `keepClean` is. */
export function renewClean(
  { snapshot, summary }: Changed,
  request: RunRequest,
  lock: LockRecords,
  ended: Ended,
): void {
  const { results, cached } = ended.outcome;
  const isSettled = results.every(({ status }) => status === 'completed');
  if (!isSettled || cached + results.length !== summary.cached) return;
  const contents = new Map<string, Uint8Array>();
  for (const [path, hash] of ended.told) {
    if (hash === null) return;
    contents.set(path, Buffer.from(hash.slice('blake3:'.length), 'hex'));
  }
  if (lock.exists) contents.set(lockPathOf(request.loaded.path), lock.digest());
  if (!hasLog(join(request.project, '.sluice', 'state.db'))) snapshot.renew(contents);
}
