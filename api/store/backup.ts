// A consistent copy of an embedded database in a new file, also while its owner is writing.

import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Libsql from 'libsql';
import { DatabaseError } from './database.ts';

/** Blocks until the copy is complete: call it from a process of its own where that matters. */
export function backup(file: string, target: string): void {
  const copy = resolve(target);
  const half = join(dirname(copy), `.sluice-${process.pid}.${basename(copy)}`);
  try {
    if (existsSync(copy)) throw new Error('the name is taken');
    if (!existsSync(file)) throw new Error('there is no such file');
    closeSync(openSync(half, 'w', 0o600));
    copyInto(resolve(file), half);
    flush(half);
    publish(half, copy);
  } catch (cause) {
    throw explain(file, copy, cause);
  } finally {
    rmSync(half, { force: true });
  }
}

/** A second connection that only reads: in WAL neither it nor the owner waits for the other. */
function copyInto(file: string, half: string): void {
  const source = new Libsql(file, { timeout: 5_000 });
  try {
    source.exec(`VACUUM INTO '${half.replaceAll("'", "''")}'`);
  } finally {
    source.close();
  }
}

function flush(half: string): void {
  const descriptor = openSync(half, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A link fails if the name is taken, at the very instant; file systems without links get a check just before. */
function publish(half: string, copy: string): void {
  try {
    linkSync(half, copy);
  } catch (error) {
    if (existsSync(copy)) throw error;
    renameSync(half, copy);
  }
}

function explain(file: string, copy: string, cause: unknown): DatabaseError {
  const isTaken = existsSync(copy);
  return new DatabaseError({
    code: 'backup-failed',
    message: isTaken
      ? `${copy} exists already; nothing was overwritten`
      : `cannot copy ${file} to ${copy}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: isTaken ? 'give another name' : 'check that both places exist and that there is room',
    cause,
  });
}
