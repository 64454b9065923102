// Lets one process build at a time, so that concurrent first runs neither thrash nor sweep each other's files.

import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** No build takes this long: whoever holds the lock longer has died, even if its pid was given to another. */
const DEAD_AFTER_MS = 60_000;

export async function withBuildLock(directory, work) {
  mkdirSync(directory, { recursive: true });
  const lock = join(directory, 'build.lock');
  while (!take(lock)) await sleep(20);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock) {
  // A link appears with its content; a file made under its own name would be seen empty for a moment.
  const own = `${lock}-${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function isHeld(lock) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > DEAD_AFTER_MS) return false;
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
