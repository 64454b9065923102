// A lock file as it lies on disk: whether it can be read, whether it could be written, and whether somebody has.

import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import type { LockFile } from '../../schema/lock-file/shape.ts';
import { checkLockFile, parseLockFile } from '../../schema/lock-file.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { CliError, EXIT } from '../command.ts';

export interface LockDamage {
  readonly path: string;
  /** With the line. */
  readonly place: string;
  readonly message: string;
}

export interface Reading {
  readonly bytes: Buffer;
  readonly path: string;
  readonly workflow: Workflow;
  /** Is told of a file that cannot be read, which then counts as missing; without it that is refused. */
  readonly damaged?: ((damage: LockDamage) => void) | undefined;
}

export function readLock({ bytes, path, workflow, damaged }: Reading): LockFile | null {
  const parsed = parseLockFile(bytes.toString());
  const place = parsed.ok ? path : `${path}:${parsed.line}`;
  if (!parsed.ok && damaged !== undefined) {
    damaged({ path, place, message: parsed.message });
    return null;
  }
  const wrong = parsed.ok ? checkLockFile(parsed.lock, workflow.name) : parsed;
  if (parsed.ok && wrong === null) return parsed.lock;
  throw new CliError({
    code: 'bad-lock-file',
    message: `${place}: ${wrong!.message}`,
    hint: wrong!.hint,
    exitCode: EXIT.invalid,
  });
}

export function bytesOf(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new CliError({
      code: 'unreadable-lock-file',
      message: `cannot read the lock file ${path}: ${code === 'EISDIR' ? 'it is a directory' : message}`,
      hint: 'give this user permission to read it, or move it away: it is written anew from what is known here',
      cause: error,
    });
  }
}

/** What cannot be recorded would be made again by every clone. */
export function refuseClosed(path: string): void {
  const closed = [path, dirname(path)].find((place) => !mayWrite(place));
  if (closed === undefined) return;
  throw new CliError({
    code: 'cannot-write',
    message: `cannot write the lock file ${shown(path)}: ${shown(closed)} is read-only for this user`,
    hint: `give permission to write it, or say \`policy: {lock_file: false}\`; nothing was started`,
  });
}

function mayWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Empty where nothing is. */
export function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
