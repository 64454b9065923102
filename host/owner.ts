// Who owns `.sluice/`: an exclusive transaction, which the operating system ends with the process that held it.

import { accessSync, constants, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { WriteError, writeFileAtomic } from './atomic-write.ts';

/** What the owner says about itself, beside its lock; it only tells where to connect (SEMANTICS 20). */
export interface OwnerNote {
  readonly pid: number;
  readonly url?: string;
}

const OWNER_NOTE = 'owner.json';

export function readOwnerNote(file: string): OwnerNote | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as OwnerNote;
  } catch {
    return null;
  }
}

export function writeOwnerNote(file: string, note: OwnerNote): void {
  writeFileAtomic(file, `${JSON.stringify(note)}\n`);
}

export interface Ownership {
  release(): void;
}

/** Null if another process has it. */
export function takeOwnership(file: string): Ownership | null {
  mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file);
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw new WriteError(file, closedTo(dirname(file)) ?? error);
  }
  // What a dead owner said of itself must not send anybody to where nobody is.
  rmSync(join(dirname(file), OWNER_NOTE), { force: true });
  return { release: () => void database.close() };
}

/** What the system has against writing there; the database has no words for it. */
function closedTo(directory: string): unknown {
  try {
    accessSync(directory, constants.W_OK);
    return null;
  } catch (error) {
    return error;
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && /busy|locked/i.test(`${'code' in error ? error.code : ''} ${error.message}`)
  );
}
