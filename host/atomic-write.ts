// Replaces a file in one step: readers see the old bytes or the new ones, never a part.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface AtomicWriteOptions {
  /** Wait until the bytes and the new name would survive a power cut. */
  readonly fsync?: boolean;
  readonly write?: (fd: number, part: string | Uint8Array) => void;
  /** For a file with one writer at a time: what a crash leaves of one write is taken up by the next. */
  readonly onlyWriter?: boolean;
}

export class WriteError extends Error {
  readonly code = 'cannot-write';
  readonly path: string;
  readonly hint: string;

  constructor(path: string, cause: unknown) {
    const errno = errnoOf(cause);
    const [fact, hint] = EXPLAINED[errno] ?? [
      cause instanceof Error ? cause.message : String(cause),
      'remove the cause and try again',
    ];
    super(`cannot write ${path}: ${fact} (${errno})`, { cause });
    this.name = 'WriteError';
    this.path = path;
    this.hint = hint;
  }
}

/** In one piece, or in parts that need not be copied into one. */
type Content = string | Uint8Array | readonly Uint8Array[];

/** Synchronous on purpose: for the small files we write this is several times faster than the promises. */
export function writeFileAtomic(path: string, bytes: Content, options: AtomicWriteOptions = {}): void {
  const place = throughLinks(path);
  const temp = siblingOf(place, options.onlyWriter ? 'new' : randomBytes(8).toString('hex'));
  try {
    writeTemp(temp, bytes, { ...options, mode: modeOf(place) });
    renameSync(temp, place);
    if (options.fsync) fsyncDirectory(dirname(place));
  } catch (cause) {
    removeQuietly(temp);
    throw new WriteError(path, cause);
  }
}

/** A rename onto a link would replace the link; the file it points to is what was meant. */
function throughLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function siblingOf(place: string, token: string): string {
  // Cut by whole characters and far below 255 bytes, the longest name most file systems take.
  const name = Array.from(basename(place)).slice(0, 50).join('');
  return join(dirname(place), `.sluice-${token}.${name}`);
}

function modeOf(place: string): number | undefined {
  const stat = statSync(place, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.mode & 0o7777 : undefined;
}

function writeTemp(
  temp: string,
  bytes: Content,
  options: AtomicWriteOptions & { readonly mode: number | undefined },
): void {
  if (options.onlyWriter) removeQuietly(temp);
  const fd = openSync(temp, 'wx');
  try {
    if (options.mode !== undefined) fchmodSync(fd, options.mode);
    const parts = typeof bytes === 'string' || bytes instanceof Uint8Array ? [bytes] : bytes;
    for (const part of parts) (options.write ?? writeFileSync)(fd, part);
    if (options.fsync) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function fsyncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function removeQuietly(temp: string): void {
  try {
    unlinkSync(temp);
  } catch {
    // It was never made, or cannot be removed for the reason that is about to be reported.
  }
}

function errnoOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
}

const EXPLAINED: Readonly<Record<string, readonly [fact: string, hint: string]>> = {
  ENOSPC: ['the disk is full', 'free some space on that file system and try again'],
  EDQUOT: ['the disk quota is used up', 'free some space or raise the quota and try again'],
  EROFS: ['the file system is read-only', 'mount it writable or use another directory'],
  EACCES: ['permission to write in its directory is missing', 'give this user write permission there'],
  EPERM: ['the operation is not permitted', 'check the owner and the attributes of the file'],
  ENOENT: ['its directory does not exist', 'create the directory first'],
  ENOTDIR: ['a part of its path is a file, not a directory', 'correct the path'],
  EISDIR: ['a directory has that name', 'move the directory away or use another name'],
};
