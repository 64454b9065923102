// The files below a directory, as the hash of a directory sees them: links as links, what is ignored left out.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { IgnoreRule } from '../../host/ignore.ts';

export interface Ignores {
  readonly ignore: IgnoreRule;
}

export interface Listed {
  /** Relative to the directory. */
  readonly path: string;
  readonly isLink: boolean;
}

export function listedBelow(directory: string, { ignore }: Ignores): Listed[] {
  const found: Listed[] = [];
  const ahead = [''];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    for (const entry of readdirSync(join(directory, at), { withFileTypes: true })) {
      if (ignore.ignores(entry.name)) continue;
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) ahead.push(path);
      else found.push({ path, isLink: entry.isSymbolicLink() });
    }
  }
  return found;
}
