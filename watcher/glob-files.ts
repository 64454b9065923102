// The files below a directory that a fan-out's glob picks.

import { join } from 'node:path';
import picomatch from 'picomatch';
import { type Disk, whyUnreadable } from '../host/disk.ts';
import { type IgnoreRule, isHidden } from '../host/ignore.ts';
import { type Listing, listDirectory, NOT_UTF8 } from '../host/path-bytes.ts';
import type { ScanProblem } from './scan.ts';

export interface Globbing {
  readonly ignore: IgnoreRule;
  readonly disk: Disk;
  /** Only at or below this path in the directory; all of it if empty. */
  readonly below?: string;
}

export interface Globbed {
  readonly files: readonly string[];
  readonly problems: readonly ScanProblem[];
}

export function globFiles(directory: string, glob: string, { ignore, disk, below = '' }: Globbing): Globbed {
  const picks = picomatch(glob, { dot: false, flags: 's' }) as (relative: string) => boolean;
  const files: string[] = [];
  const problems: ScanProblem[] = [];
  if (below !== '') {
    if (below.split('/').some((name) => ignore.ignores(name) || isHidden(name))) return { files, problems };
    // Not followed, as those that are come upon in a listing are not.
    const kind = disk.lstat(join(directory, below))?.kind;
    if (kind !== 'directory') {
      return { files: kind !== undefined && picks(below) ? [join(directory, below)] : [], problems };
    }
  }
  const ahead = [below];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    const folder = at === '' ? directory : join(directory, at);
    const listing = listed(disk, folder);
    if ('reason' in listing) {
      problems.push({ path: folder, ...listing });
      continue;
    }
    for (const { lossy, shown } of listing.unusable) {
      if (!ignore.ignores(lossy) && !isHidden(lossy) && picks(at === '' ? lossy : `${at}/${lossy}`))
        problems.push({ path: `${folder}/${shown}`, reason: NOT_UTF8 });
    }
    for (const entry of listing.entries) {
      if (ignore.ignores(entry.name) || isHidden(entry.name)) continue;
      const relative = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) ahead.push(relative);
      else if (picks(relative)) files.push(join(directory, relative));
    }
  }
  return { files: files.sort(), problems };
}

function listed(disk: Disk, folder: string): Listing | { readonly reason: string } {
  try {
    return listDirectory(disk, folder);
  } catch (error) {
    // Gone since its parent was listed: then it has nothing to tell.
    const reason = whyUnreadable(error);
    return reason === null ? { entries: [], unusable: [] } : { reason };
  }
}
