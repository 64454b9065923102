// The files below a directory that a fan-out's glob picks.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import picomatch from 'picomatch';
import { type IgnoreRule, isHidden } from '../host/ignore.ts';

export function globFiles(directory: string, glob: string, ignore: IgnoreRule): string[] {
  const picks = picomatch(glob, { dot: false }) as (relative: string) => boolean;
  const found: string[] = [];
  const ahead = [''];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    for (const entry of readdirSync(join(directory, at), { withFileTypes: true })) {
      if (ignore.ignores(entry.name) || isHidden(entry.name)) continue;
      const relative = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) ahead.push(relative);
      else if (picks(relative)) found.push(join(directory, relative));
    }
  }
  return found.sort();
}
