import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { checkClean, differingRows, writeClean } from '../../host/clean-snapshot.ts';
import { DISK } from '../../host/disk.ts';
import { LookRecord } from '../../host/look-record.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-clean-'));
  mkdirSync(join(root, 'in'));
  for (const name of ['a', 'code', 'plain', 'z']) writeFileSync(join(root, 'in', name), name);
  writeFileSync(join(root, 'db'), 'db');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const { hash } = loadBlake3();
/** Later than any stamp, as if the looks were taken long after the files were written. */
const LATER = Date.now() + 3_600_000;

/** What was told is `in/a` and `in/z`; of `in/plain` only the stamp is known. */
function keep(lookedAtMs = LATER): boolean {
  const record = new LookRecord(DISK, hash);
  record.disk.list(join(root, 'in'));
  for (const name of ['a', 'code', 'plain', 'z', 'missing', '../later/missing'])
    record.disk.stat(join(root, 'in', name));
  const looks = [...record.all()].map((look) => {
    const content = /(a|code|z)$/.test(look.path) ? hash(readFileSync(look.path)) : null;
    return { ...look, digest: look.listing ?? content, isTold: /[az]$/.test(look.path) };
  });
  return writeClean(join(root, 'clean'), {
    ...{
      key: 'k',
      summary: { cached: 1 },
      looks,
      own: [join(root, 'db')],
      empty: [join(root, 'db-wal')],
      lookedAtMs,
    },
  });
}

const check = (nowMs = LATER, key = 'k') => checkClean(join(root, 'clean'), key, { nowMs: () => nowMs });
const changedIn = (checked: ReturnType<typeof check>) =>
  checked.kind === 'changed' ? checked.snapshot.changed() : null;
const isClean = (key = 'k') => check(LATER, key).kind === 'clean';

describe('a clean snapshot', () => {
  test('gives its summary while nothing has changed', () => {
    expect(keep()).toBe(true);
    expect(check()).toEqual({ kind: 'clean', summary: { cached: 1 } });
  });

  test.each<readonly [string, () => void]>([
    ['a file changed', () => writeFileSync(join(root, 'in/a'), 'b!')],
    ['a file changed to the same size with its times restored', editQuietly],
    ['a file appeared', () => writeFileSync(join(root, 'in/b'), '')],
    ['a file vanished', () => rmSync(join(root, 'in/a'))],
    ['what was missing is there', () => makeMissing('in')],
    ['a file became a link to something else', () => linkInstead()],
    ['one of our own files changed', () => writeFileSync(join(root, 'db'), 'other')],
    [
      'something was written that is not in our own files yet',
      () => writeFileSync(join(root, 'db-wal'), 'x'),
    ],
    ['the snapshot itself is damaged', () => writeFileSync(join(root, 'clean'), 'x')],
  ])('says nothing when %s', (_, change) => {
    keep();
    expect(isClean()).toBe(true);
    change();
    expect(isClean()).toBe(false);
  });

  test('tells which files have other content, where all that was told is the content of files', async () => {
    keep();
    writeFileSync(join(root, 'in/a'), 'other');
    expect(await changedIn(check())).toEqual([join(root, 'in/a')]);
  });

  describe('of which the rest is looked at elsewhere once a difference was found', () => {
    /** By whom it was looked at, and what came of it. */
    const checkInTwo = async () => {
      const asked: number[] = [];
      const file = join(root, 'clean');
      const lookAtRest = async (from: number) => {
        asked.push(from);
        return differingRows(file, 'k', from);
      };
      const checked = checkClean(file, 'k', { nowMs: () => LATER, large: 2, lookAtRest });
      return {
        asked,
        kind: checked.kind,
        changed: checked.kind === 'changed' ? await changedIn(checked) : null,
      };
    };

    test.each<readonly [string, () => void, readonly string[] | null]>([
      ['nothing else has changed', () => {}, ['in/a']],
      ['others were touched', () => touch('code'), ['in/a']],
      ['another file has other content', () => writeFileSync(join(root, 'in/z'), 'other'), ['in/a', 'in/z']],
      [
        'a file that was not told has other content',
        () => writeFileSync(join(root, 'in/code'), 'other'),
        null,
      ],
      ['what was missing is there', () => makeMissing('later'), null],
    ])('%s', async (_, change, changed) => {
      keep();
      writeFileSync(join(root, 'in/a'), 'other');
      change();
      const paths = changed?.map((name) => join(root, name)) ?? null;
      expect(await checkInTwo()).toEqual({ asked: [expect.any(Number)], kind: 'changed', changed: paths });
    });

    test('by the thread that is built for it', async () => {
      keep();
      writeFileSync(join(root, 'in/a'), 'other');
      const workerData = { file: join(root, 'clean'), key: 'k', from: 0 };
      const thread = new Worker(new URL('../../dist/clean-rest.js', import.meta.url), { workerData });
      const [rows] = await once(thread, 'message');
      expect(rows).toEqual(differingRows(join(root, 'clean'), 'k', 0));
      expect(rows).toHaveLength(1);
    });

    test('or could not be looked at', async () => {
      keep();
      writeFileSync(join(root, 'in/a'), 'other');
      const lookAtRest = () => Promise.reject(new Error('no thread'));
      const checked = checkClean(join(root, 'clean'), 'k', { nowMs: () => LATER, large: 2, lookAtRest });
      expect(await changedIn(checked)).toBeNull();
    });

    test('is not, where nothing has changed', async () => {
      keep();
      expect(await checkInTwo()).toEqual({ asked: [], kind: 'clean', changed: null });
    });
  });

  test.each<readonly [string, () => void]>([
    ['beside the change something else has changed', () => writeFileSync(join(root, 'in/code'), 'other')],
    ['beside the change a file appeared', () => writeFileSync(join(root, 'in/b'), '')],
    ['what changed is a link to a directory now', () => linkInstead('in')],
  ])('says nothing when %s', (_, change) => {
    keep();
    writeFileSync(join(root, 'in/a'), 'other');
    change();
    expect(check().kind).toBe('unknown');
  });

  test.each<readonly [string, () => void]>([
    ['files are touched', () => touch('a', 'code')],
    ['a file was replaced by one with the same content', replaceAlike],
    ['a name came and went', comeAndGo],
  ])('holds when %s, and need not look inside again once the stamps are old', (_, change) => {
    keep();
    change();
    expect(isClean()).toBe(true);
    const before = readFileSync(join(root, 'clean'));
    // The content cannot be looked at any more, so only the stamp can vouch for it.
    writeFileSync(join(root, 'clean'), withoutDigests(before));
    expect(isClean()).toBe(true);
  });

  test('compares content again and again while a stamp is too young to be relied on', () => {
    keep();
    touch('a');
    const before = readFileSync(join(root, 'clean'));
    expect(check(statSync(join(root, 'in/a')).ctimeMs).kind).toBe('clean');
    expect(readFileSync(join(root, 'clean')).equals(before)).toBe(true);
  });

  test('of a touched file whose content was never known says nothing', () => {
    keep();
    touch('plain');
    expect(isClean()).toBe(false);
  });

  describe('when what had changed is accounted for', () => {
    const changed = () => {
      keep();
      writeFileSync(join(root, 'in/a'), 'other');
      const checked = check();
      if (checked.kind !== 'changed') throw new Error(checked.kind);
      return checked.snapshot;
    };
    const told = (text: string) => new Map([[join(root, 'in/a'), hash(Buffer.from(text))]]);

    test('holds anew for the content that was told', () => {
      const snapshot = changed();
      writeFileSync(join(root, 'db'), 'a new state');
      expect(snapshot.renew(told('other'))).toBe(true);
      expect(isClean()).toBe(true);
    });

    test('tells of a change that came after it', () => {
      changed().renew(told('told before it changed again'));
      expect(check().kind).toBe('changed');
    });

    test('is not kept where a file is none of those that were looked at', () => {
      expect(changed().renew(new Map([[join(root, 'in/new'), hash(Buffer.from(''))]]))).toBe(false);
    });

    test('is worth nothing to who finds that our own files have changed meanwhile', () => {
      const snapshot = changed();
      expect(snapshot.isCurrent()).toBe(true);
      writeFileSync(join(root, 'db-wal'), 'by one that was killed');
      expect(snapshot.isCurrent()).toBe(false);
      rmSync(join(root, 'db-wal'));
      writeFileSync(join(root, 'db'), 'by another process');
      expect(snapshot.isCurrent()).toBe(false);
    });
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
    const looks = new LookRecord(DISK, hash);
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

function linkInstead(to = 'db'): void {
  rmSync(join(root, 'in/a'));
  symlinkSync(join(root, to), join(root, 'in/a'));
}

function makeMissing(folder: string): void {
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, 'missing'), '');
}

function touch(...names: readonly string[]): void {
  for (const name of names) utimesSync(join(root, 'in', name), 1, 1);
}

function replaceAlike(): void {
  writeFileSync(join(root, 'new'), 'a');
  renameSync(join(root, 'new'), join(root, 'in/a'));
}

function comeAndGo(): void {
  writeFileSync(join(root, 'in/b'), '');
  rmSync(join(root, 'in/b'));
}

/** Six looks at files, one at the directory, and our own two. */
function withoutDigests(bytes: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, bytes.length - 9 * 32), Buffer.alloc(9 * 32)]);
}
