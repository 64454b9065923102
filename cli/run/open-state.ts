// Opens the state database of a project; a damaged one is set aside, for all it knows is also in lock files and on disk.

import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../api/store/database.ts';
import { CliError, type Io } from '../command.ts';
import { openOrExplain } from '../control-plane.ts';

export async function openState(own: string, io: Io, warn: (warning: string) => void): Promise<Database> {
  const file = join(own, 'state.db');
  if (!existsSync(file)) forgetLocks(own);
  try {
    return await openOrExplain(file, io);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'database-corrupt') throw error;
    setStateAside(own, warn);
    return openOrExplain(file, io);
  }
}

/** Closed by now; damage is not always seen by opening. */
export function setStateAside(own: string, warn: (warning: string) => void): void {
  const file = join(own, 'state.db');
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(':', '-')}`;
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(`${file}${end}`)) renameSync(`${file}${end}`, `${aside}${end}`);
  }
  forgetLocks(own);
  warn(`${file} is damaged; it was moved to ${aside}, and a new one is made from lock files and disk`);
}

/** To a new database every lock file is news, also one that we wrote ourselves (SEMANTICS 1). */
function forgetLocks(own: string): void {
  rmSync(join(own, 'locks'), { recursive: true, force: true });
}
