// Who owns `.sluice/`: an exclusive transaction, which the operating system ends with the process that held it.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

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
    throw error;
  }
  return { release: () => void database.close() };
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && /busy|locked/i.test(`${'code' in error ? error.code : ''} ${error.message}`)
  );
}
