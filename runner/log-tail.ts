// The end of what a command said, for messages and pages.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { FILES } from './launch-script.ts';

export interface LogTail {
  readonly stdout: string;
  readonly stderr: string;
}

export function logTail(workDir: string, bytes: number): LogTail {
  return { stdout: tailOf(workDir, 'stdout', bytes), stderr: tailOf(workDir, 'stderr', bytes) };
}

/** Empty if it said nothing. */
export function tailOf(workDir: string, stream: 'stdout' | 'stderr', bytes: number): string {
  const tail = readTail(join(workDir, FILES[stream]), bytes);
  // Continuation bytes at the start belong to a character that was cut.
  const start = tail.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start < 0 ? '' : tail.subarray(start).toString('utf8');
}

function readTail(file: string, bytes: number): Buffer {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(size, bytes));
    return tail.subarray(0, readSync(fd, tail, 0, tail.length, size - tail.length));
  } finally {
    closeSync(fd);
  }
}
