// The lock file as text: reading it with an exact complaint, updating it without needless changes.

import { shown } from './diagnostic.ts';
import { type FormatOptions, formatLockFile } from './lock-file/format.ts';
import { lineOfPath, readLines } from './lock-file/read-lines.ts';
import { readReformatted } from './lock-file/read-reformatted.ts';
import { type LockFile, lockFileShape, nameIssue } from './lock-file/shape.ts';

export const LOCK_SCHEMA = '1.0';

export interface LockFileError {
  readonly ok: false;
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

export type ParsedLockFile = { readonly ok: true; readonly lock: LockFile } | LockFileError;

export function parseLockFile(text: string): ParsedLockFile {
  const read = readLines(text);
  if (read.ok) return checkShape(text, read.tree, (path) => lineOfPath(text, path));
  const known = conflictIn(text) ?? newerSchemaIn(text);
  if (known !== null) return known;
  const reformatted = readReformatted(text);
  if (!reformatted.ok) return damaged(reformatted.line ?? read.line, reformatted.message ?? read.message);
  return checkShape(text, reformatted.tree, reformatted.lineOf);
}

/** The old text if the new one would say the same: when and by which version it was written is no news. */
export function updateLockFile(oldText: string | null, lock: LockFile, options?: FormatOptions): string {
  const text = formatLockFile(lock, options);
  return oldText !== null && withoutStamp(oldText) === withoutStamp(text) ? oldText : text;
}

/** Whether a lock file that could be read is this workflow's. */
export function checkLockFile(lock: LockFile, playbookName: string): Omit<LockFileError, 'line'> | null {
  if (lock.playbook === playbookName) return null;
  return {
    ok: false,
    message: `the lock file belongs to '${shown(lock.playbook)}', not to '${shown(playbookName)}'`,
    hint: 'if the workflow was renamed, change `playbook:` in the lock file; otherwise move the lock file away and run again',
  };
}

function withoutStamp(text: string): string {
  return text.replace(/^generated_at: .*$/m, 'generated_at:').replace(/^generator: .*$/m, 'generator:');
}

type LineOf = (path: readonly PropertyKey[]) => number;

function checkShape(text: string, tree: unknown, lineOf: LineOf): ParsedLockFile {
  const newer = newerSchemaIn(text);
  if (newer !== null) return newer;
  const parsed = lockFileShape.safeParse(tree);
  if (parsed.success) return { ok: true, lock: parsed.data };
  const issue = nameIssue(parsed.error.issues[0]!);
  return damaged(lineOf(issue.path), `${shown(issue.path.join('.'))}: ${issue.message}`);
}

const RESTORE = 'restore it from git (git checkout -- FILE), or move it away and run again';

function damaged(line: number, message: string): LockFileError {
  return { ok: false, line, message: `the lock file is damaged: ${message}`, hint: RESTORE };
}

function conflictIn(text: string): LockFileError | null {
  const found = /^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?\r?$/m.exec(text);
  if (found === null) return null;
  return {
    ok: false,
    line: text.slice(0, found.index).split('\n').length,
    message: 'the lock file holds a git conflict',
    hint: 'take either side (git checkout --ours FILE or --theirs FILE) and run again: what does not match is made anew',
  };
}

function newerSchemaIn(text: string): LockFileError | null {
  const found = /^schema: *["']?(\d+)\.(\d+)/m.exec(text.slice(0, 4_096));
  const [major, minor] = LOCK_SCHEMA.split('.').map(Number) as [number, number];
  if (found === null || Number(found[1]) < major) return null;
  if (Number(found[1]) === major && Number(found[2]) <= minor) return null;
  return {
    ok: false,
    line: text.slice(0, found.index).split('\n').length,
    message: `the lock file has schema ${found[1]}.${found[2]}; this Sluice knows up to ${LOCK_SCHEMA}`,
    hint: 'upgrade Sluice to the version that wrote it',
  };
}
