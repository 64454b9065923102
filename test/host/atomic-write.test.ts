import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WriteError, writeFileAtomic } from '../../host/atomic-write.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-atomic-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function failure(act: () => void): WriteError {
  try {
    act();
  } catch (error) {
    if (error instanceof WriteError) return error;
    throw error;
  }
  throw new Error('expected a WriteError');
}

/** A full disk as the operating system reports it. */
function writeToFullDisk(_fd: number, bytes: string | Uint8Array): void {
  const full = openSync('/dev/full', 'w');
  try {
    writeSync(full, Buffer.from(bytes));
  } finally {
    closeSync(full);
  }
}

describe('writeFileAtomic', () => {
  test.each([false, true])('makes a new file with the bytes (fsync: %s)', (fsync) => {
    const path = join(dir, 'new.yaml');
    writeFileAtomic(path, new Uint8Array([0, 255, 10]), { fsync });
    expect([...readFileSync(path)]).toEqual([0, 255, 10]);
    expect(readdirSync(dir)).toEqual(['new.yaml']);
  });

  test('replaces a file and keeps its mode', () => {
    const path = join(dir, 'old.sh');
    writeFileSync(path, 'old');
    chmodSync(path, 0o751);
    writeFileAtomic(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o7777).toBe(0o751);
  });

  test('writes beside the file under a hidden name, leaving the old bytes visible meanwhile', () => {
    const path = join(dir, 'a.txt');
    writeFileSync(path, 'old');
    writeFileAtomic(path, 'new', {
      write(fd, bytes) {
        expect(readFileSync(path, 'utf8')).toBe('old');
        expect(readdirSync(dir)).toEqual([expect.stringMatching(/^\.sluice-[0-9a-f]{16}\.a\.txt$/), 'a.txt']);
        writeSync(fd, String(bytes));
      },
    });
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  test('leaves the old file and no temporary one when the disk is full', () => {
    const path = join(dir, 'a.txt');
    writeFileSync(path, 'old');
    const error = failure(() => writeFileAtomic(path, 'new', { write: writeToFullDisk }));
    expect(error).toMatchObject({
      code: 'cannot-write',
      path,
      hint: expect.stringContaining('free some space'),
    });
    expect(error.message).toBe(`cannot write ${path}: the disk is full (ENOSPC)`);
    expect(error.cause).toMatchObject({ code: 'ENOSPC' });
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(dir)).toEqual(['a.txt']);
  });

  test.each([
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission to write'],
    ['EIO', 'i/o error'],
  ])('explains %s', (code, fact) => {
    const write = () => {
      throw Object.assign(new Error('i/o error'), { code });
    };
    const error = failure(() => writeFileAtomic(join(dir, 'a.txt'), 'new', { write }));
    expect(error.message).toContain(fact);
    expect(error.hint).not.toBe('');
    expect(readdirSync(dir)).toEqual([]);
  });

  test('says that a part of the path is a file', () => {
    writeFileSync(join(dir, 'file'), '');
    const error = failure(() => writeFileAtomic(join(dir, 'file', 'a.txt'), 'new'));
    expect(error.message).toContain('a part of its path is a file, not a directory (ENOTDIR)');
  });

  test('says that the directory does not exist', () => {
    expect(failure(() => writeFileAtomic(join(dir, 'no', 'a.txt'), 'new')).message).toContain('(ENOENT)');
  });

  test('refuses to replace a directory and cleans up', () => {
    mkdirSync(join(dir, 'd'));
    expect(failure(() => writeFileAtomic(join(dir, 'd'), 'new')).message).toContain(
      'a directory has that name',
    );
    expect(readdirSync(dir)).toEqual(['d']);
  });

  test('writes through a link instead of replacing it', () => {
    writeFileSync(join(dir, 'real'), 'old');
    symlinkSync('real', join(dir, 'link'));
    writeFileAtomic(join(dir, 'link'), 'new');
    expect(readlinkSync(join(dir, 'link'))).toBe('real');
    expect(readFileSync(join(dir, 'real'), 'utf8')).toBe('new');
  });

  test('takes a name as long as the file system allows', () => {
    const path = join(dir, `${'é'.repeat(127)}x`);
    writeFileAtomic(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
  });
});
