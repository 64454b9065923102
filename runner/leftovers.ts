// Ends what a dead runner left running, and never anything else: a pid may by now be somebody else's. Removes what it
// left half-made beside the places of its outputs.

import { rmSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { unreachable } from '../schema/words.ts';
import { besideIn, type Group, unendedIn } from './journal.ts';
import { RAW } from './launch-script.ts';
import { environmentOf, factsOf, runningIn } from './platform.ts';
import { endGroup } from './process-group.ts';

export interface Leftover {
  readonly group: Group;
  /** `unknown`: it cannot be told whose the group is, so it was left alone. */
  readonly fate: 'ended' | 'gone' | 'recycled' | 'unknown';
}

/** For the owner of `.sluice/`, before it claims anything and before it opens the journal itself. */
export async function endLeftovers(journal: string, graceMs = 0): Promise<readonly Leftover[]> {
  const found = await Promise.all(unendedIn(journal).map((group) => endLeftover(group, graceMs)));
  for (const { group } of found) removeRaw(group.workDir);
  const beside = besideIn(journal);
  for (const path of beside) removeHidden(path);
  if (found.length > 0 || beside.length > 0) truncateSync(journal);
  return found;
}

/** What a command said before secrets were taken out of it. */
function removeRaw(workDir: string): void {
  for (const name of Object.values(RAW)) rmSync(join(workDir, name), { force: true });
}

/** Whatever the journal says, only a name of ours is removed. */
function removeHidden(path: string): void {
  if (!basename(path).startsWith('.sluice-')) return;
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // In a directory that is closed to us by now; it is hidden, and nobody reads it.
  }
}

async function endLeftover(group: Group, graceMs: number): Promise<Leftover> {
  const owner = ownerOf(group);
  switch (owner) {
    case 'ours':
      return { group, fate: (await endGroup(group.id, graceMs)) ? 'ended' : 'gone' };
    case 'nobody':
      return { group, fate: 'gone' };
    case 'somebody else':
      return { group, fate: 'recycled' };
    case 'unknown':
      return { group, fate: 'unknown' };
    default:
      return unreachable(owner);
  }
}

function ownerOf(group: Group): 'ours' | 'nobody' | 'somebody else' | 'unknown' {
  const members = runningIn(group.id);
  if (members === null || group.startTime === null) return 'unknown';
  const leader = factsOf(group.id);
  // A pid is not given out again while a group of that number has members: another process under it
  // means that ours is gone altogether.
  if (leader !== null && leader.startTime !== group.startTime) return 'somebody else';
  if (members.length === 0) return 'nobody';
  if (leader !== null) return 'ours';
  // Without its leader only what the members were started with tells whose they are.
  const mark = `SLUICE_WORK_DIR=${group.workDir}`;
  return members.some(({ pid }) => environmentOf(pid).includes(mark)) ? 'ours' : 'somebody else';
}
