// Where benches work: a scratch folder, and the program as it is installed.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Places {
  readonly scratch: string;
  /** bin/sluice.js without sources beside it, so that it does not look whether they are newer than what was built. */
  readonly program: string;
}

export async function inPlaces<T>(act: (places: Places) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  // Below node_modules, so that what is not bundled is found.
  const installed = mkdtempSync(join(process.cwd(), 'node_modules/.cache-bench-'));
  const tidy = () => {
    for (const folder of [installed, scratch]) remove(folder);
  };
  process.once('exit', tidy);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
  try {
    for (const name of ['bin', 'dist', 'package.json'])
      cpSync(name, join(installed, name), { recursive: true });
    return await act({ scratch, program: join(installed, 'bin/sluice.js') });
  } finally {
    process.off('exit', tidy);
    tidy();
  }
}

/** A tup that failed leaves its file system mounted. */
export function remove(folder: string): void {
  const mounted = join(folder, '.tup/mnt');
  if (existsSync(mounted)) spawnSync('fusermount3', ['-uqz', mounted]);
  // What was just ended may still be writing there.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
