// The limits of inotify beside what this user's processes take and what the workflows here would.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface InotifyFacts {
  readonly maxWatches: number;
  readonly maxInstances: number;
  readonly usedWatches: number;
  readonly usedInstances: number;
  /** One per directory that is looked into. */
  readonly neededWatches: number;
  /** By a process that keeps them already, so that what is needed is in use. */
  readonly isKept: boolean;
}

/** Null where there is no inotify. */
export function readInotify(needs: Pick<InotifyFacts, 'neededWatches' | 'isKept'>): InotifyFacts | null {
  const maxWatches = limit('max_user_watches');
  const maxInstances = limit('max_user_instances');
  if (maxWatches === null || maxInstances === null) return null;
  return { maxWatches, maxInstances, ...inUse(), ...needs };
}

export function judgeInotify(facts: InotifyFacts): Finding[] {
  const { maxWatches, maxInstances, usedWatches, usedInstances, neededWatches, isKept } = facts;
  const free = Math.max(0, maxWatches - usedWatches) + (isKept ? Math.min(usedWatches, neededWatches) : 0);
  const watches = `${usedWatches} of ${maxWatches} watches in use, the workflows here need ${neededWatches}`;
  const instances = `${usedInstances} of ${maxInstances} instances in use`;
  const more = Math.max(1_048_576, 2 * (usedWatches + neededWatches));
  const least = Math.max(512, 2 * maxInstances);
  return [
    free < neededWatches
      ? fail('inotify', watches, raise('max_user_watches', more))
      : free < 2 * neededWatches
        ? warn('inotify', watches, raise('max_user_watches', more))
        : ok('inotify', watches),
    usedInstances >= maxInstances
      ? fail('inotify', instances, raise('max_user_instances', least))
      : ok('inotify', instances),
  ];
}

function raise(name: string, value: number): string {
  const setting = `fs.inotify.${name}=${value}`;
  return `sudo sysctl ${setting}, and for good: echo ${setting} | sudo tee /etc/sysctl.d/60-sluice.conf; until then directories beyond the limit are looked at every few seconds`;
}

function limit(name: string): number | null {
  const text = readOrNull(`/proc/sys/fs/inotify/${name}`);
  return text === null ? null : Number(text);
}

/** Limits count per user; what other users' processes take cannot be read, and does not count. */
function inUse(): Pick<InotifyFacts, 'usedWatches' | 'usedInstances'> {
  let usedWatches = 0;
  let usedInstances = 0;
  for (const pid of namesIn('/proc').filter((name) => /^\d+$/.test(name))) {
    if (!isMine(pid)) continue;
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      if (linkOf(`/proc/${pid}/fd/${fd}`) !== 'anon_inode:inotify') continue;
      usedInstances += 1;
      usedWatches += readOrNull(`/proc/${pid}/fdinfo/${fd}`)?.match(/^inotify /gm)?.length ?? 0;
    }
  }
  return { usedWatches, usedInstances };
}

/** Who may read everything, as root may, still counts only what is its own. */
function isMine(pid: string): boolean {
  const uid = /^Uid:\s+(\d+)/m.exec(readOrNull(`/proc/${pid}/status`) ?? '')?.[1];
  return uid !== undefined && Number(uid) === process.getuid?.();
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
