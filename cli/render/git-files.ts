// Which files a run has changed that belong into git, and the line that adds them.

import { relative } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import type { Io } from '../command.ts';
import type { GitFile } from '../run/git-files.ts';
import { quoted } from './debug.ts';

export function renderGitFiles(files: readonly GitFile[], { cwd }: Pick<Io, 'cwd'>): string {
  if (files.length === 0) return '';
  const named = files.map(({ path, change }) => ({ change, path: relative(cwd, path) || path }));
  const lines = named.map(({ path, change }) => `  ${`${change}:`.padEnd(9)} ${shown(path)}`);
  const add = `git add ${named.map(({ path }) => quoted(path)).join(' ')} && git commit`;
  return `\nGit-trackable files updated:\n${lines.join('\n')}\nTo version this run: ${add}\n`;
}
