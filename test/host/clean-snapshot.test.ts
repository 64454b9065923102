import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readClean, writeClean } from '../../host/clean-snapshot.ts';
import { DISK } from '../../host/disk.ts';
import { LookRecord } from '../../host/look-record.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-clean-'));
  mkdirSync(join(root, 'in'));
  writeFileSync(join(root, 'in/a'), 'a');
  writeFileSync(join(root, 'db'), 'db');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Later than any stamp, as if the looks were taken long after the files were written. */
const LATER = Date.now() + 3_600_000;

function keep(lookedAtMs = LATER): boolean {
  const looks = new LookRecord(DISK);
  looks.disk.list(join(root, 'in'));
  looks.disk.stat(join(root, 'in/a'));
  looks.disk.stat(join(root, 'in/missing'));
  const parts = { key: 'k', summary: { cached: 1 }, looks: looks.all(), own: [join(root, 'db')], lookedAtMs };
  return writeClean(join(root, 'clean'), parts);
}

const isClean = (key = 'k') => readClean(join(root, 'clean'), key) !== null;

describe('a clean snapshot', () => {
  test('gives its summary while nothing has changed', () => {
    expect(keep()).toBe(true);
    expect(readClean(join(root, 'clean'), 'k')).toEqual({ cached: 1 });
  });

  test.each<readonly [string, () => void]>([
    ['a file changed', () => writeFileSync(join(root, 'in/a'), 'b!')],
    ['a file changed to the same size with its times restored', editQuietly],
    ['a file appeared', () => writeFileSync(join(root, 'in/b'), '')],
    ['a file vanished', () => rmSync(join(root, 'in/a'))],
    ['what was missing is there', () => writeFileSync(join(root, 'in/missing'), '')],
    ['a file became a link', linkInstead],
    ['one of our own files changed', () => writeFileSync(join(root, 'db'), 'other')],
    ['the snapshot itself is damaged', () => writeFileSync(join(root, 'clean'), 'x')],
  ])('says nothing when %s', (_, change) => {
    keep();
    expect(isClean()).toBe(true);
    change();
    expect(isClean()).toBe(false);
  });

  test('says nothing about another question', () => {
    keep();
    expect(isClean('other')).toBe(false);
  });

  test('is not kept if a stamp is too young to be relied on', () => {
    expect(keep(Date.now())).toBe(false);
    expect(isClean()).toBe(false);
  });

  test('is not kept if a path changed between two looks', () => {
    const looks = new LookRecord(DISK);
    looks.disk.stat(join(root, 'in/a'));
    writeFileSync(join(root, 'in/a'), 'longer');
    looks.disk.stat(join(root, 'in/a'));
    expect(looks.isTorn).toBe(true);
  });
});

function editQuietly(): void {
  const { mtimeNs } = DISK.stat(join(root, 'in/a'))!;
  writeFileSync(join(root, 'in/a'), 'z');
  const seconds = Number(mtimeNs) / 1e9;
  utimesSync(join(root, 'in/a'), seconds, seconds);
}

function linkInstead(): void {
  rmSync(join(root, 'in/a'));
  symlinkSync(join(root, 'db'), join(root, 'in/a'));
}
