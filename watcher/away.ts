// Tells files that were removed from files whose place is gone for now: a disk that was unmounted or unplugged.

import { dirname } from 'node:path';
import { type Disk, whyUnreadable } from '../host/disk.ts';

export interface AwayContext {
  /** Of the workflow. */
  readonly root: string;
  readonly disk: Disk;
  /** On which something was last seen in the directory; empty if nobody knows. */
  readonly device: string;
}

/**
 * Why nothing can be said about what was in a directory; null if what is not there was removed.
 *
 * A directory, or where it would be, that is on another device than before and has nothing in it is a mount point
 * without its mount. One with something in it is taken as it is: device numbers change when a disk is mounted again.
 */
export function awayReason(directory: string, context: AwayContext): string | null {
  try {
    return lookForPlace(directory, context);
  } catch (error) {
    return whyUnreadable(error);
  }
}

function lookForPlace(directory: string, { root, disk, device }: AwayContext): string | null {
  if (disk.place(root)?.kind !== 'directory') return 'it is away: moved, removed or unmounted';
  if (device === '') return null;
  const nearest = nearestThere(directory, disk);
  if (nearest.device === device) return null;
  if (nearest.path === directory && disk.list(directory).length > 0) return null;
  return 'its disk is away: it was unmounted or unplugged';
}

function nearestThere(directory: string, disk: Disk): { readonly path: string; readonly device: string } {
  for (let at = directory; ; at = dirname(at)) {
    const place = disk.place(at);
    if (place !== null) return { path: at, device: place.dev.toString() };
  }
}
