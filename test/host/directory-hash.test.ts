import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DISK } from '../../host/disk.ts';
import { IgnoreError, ignoreRule } from '../../host/ignore.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import { hashDirectory } from '../../schema/key.ts';
import { HashRig, refusing } from './hash-rig.ts';

let rig: HashRig;
beforeEach(() => {
  rig = new HashRig();
});
afterEach(() => rig.remove());

function hashTree(name = 'tree', options: Parameters<HashRig['hasher']>[0] = {}) {
  return rig.hasher(options).hashPath(rig.at(name));
}

function hashText(text: string) {
  return asBlake3(rig.blake3.hash(Buffer.from(text)));
}

describe('the hash of a directory', () => {
  test('is that of its entries, node by node, with counts of all that is in it', () => {
    rig.write('tree/b.txt', 'bb');
    rig.write('tree/sub/a.txt', 'a');
    symlinkSync('b.txt', rig.at('tree/link'));
    mkdirSync(rig.at('tree/empty'));
    const sub = hashDirectory(rig.blake3.hash, [{ name: 'a.txt', kind: 'file', hash: hashText('a') }]);
    const hash = hashDirectory(rig.blake3.hash, [
      { name: 'b.txt', kind: 'file', hash: hashText('bb') },
      { name: 'empty', kind: 'directory', hash: hashDirectory(rig.blake3.hash, []) },
      { name: 'link', kind: 'link', hash: hashText('b.txt') },
      { name: 'sub', kind: 'directory', hash: sub },
    ]);
    expect(hashTree()).toEqual({ kind: 'directory', hash, files: 3, size: 3 });
    expect(hashTree()).toEqual({ kind: 'directory', hash, files: 3, size: 3 });
    expect(rig.hasher().hashPath(`${rig.at('tree')}/`)).toMatchObject({ hash });
  });

  test('is the same wherever the directory stands, and through a link to it', () => {
    rig.write('tree/sub/a.txt', 'a');
    rig.write('other/place/sub/a.txt', 'a');
    symlinkSync('other/place', rig.at('link'));
    expect(hashTree('other/place')).toEqual(hashTree('tree'));
    expect(hashTree('link')).toEqual(hashTree('tree'));
  });

  test.each<[string, () => void]>([
    ['a file is edited', () => rig.write('tree/sub/a', 'b')],
    ['a file is added', () => rig.write('tree/sub/new', '')],
    ['an empty directory is added', () => mkdirSync(rig.at('tree/new'))],
    ['a file is removed', () => unlinkSync(rig.at('tree/sub/a'))],
    ['a file is renamed', () => renameSync(rig.at('tree/sub/a'), rig.at('tree/sub/A'))],
    ['a file moves to another directory', () => renameSync(rig.at('tree/sub/a'), rig.at('tree/a'))],
    [
      'a link gets another target',
      () => {
        unlinkSync(rig.at('tree/link'));
        symlinkSync('elsewhere', rig.at('tree/link'));
      },
    ],
    [
      'a link becomes a file with the text of its target',
      () => {
        unlinkSync(rig.at('tree/link'));
        writeFileSync(rig.at('tree/link'), 'target');
      },
    ],
  ])('changes when %s', (_, change) => {
    rig.write('tree/sub/a', 'longer');
    symlinkSync('target', rig.at('tree/link'));
    const before = hashTree();
    change();
    expect(hashTree()).not.toEqual(before);
    expect(hashTree()).toEqual(rig.afresh('tree'));
  });

  test('does not change with modes, nor with what a link inside it leads to', () => {
    rig.write('tree/a');
    rig.write('outside', 'one');
    symlinkSync('../outside', rig.at('tree/link'));
    symlinkSync('nowhere', rig.at('tree/dangling'));
    symlinkSync('.', rig.at('tree/loop'));
    const before = hashTree();
    rig.write('outside', 'another');
    chmodSync(rig.at('tree/a'), 0o755);
    expect(hashTree()).toEqual(before);
    expect(before).toMatchObject({ kind: 'directory', files: 4 });
  });

  test('keeps apart names that only look alike, and takes odd ones', () => {
    const names = ['\u00e9', 'e\u0301', '-rf', 'two\nlines', '🎧', '\uFFFD', '\u{10000}', '\uFF61'];
    for (const name of names) rig.write(`tree/${name}`, 'same');
    const entries = names.map((name) => ({ name, kind: 'file' as const, hash: hashText('same') }));
    expect(hashTree()).toMatchObject({ hash: hashDirectory(rig.blake3.hash, entries), files: names.length });
  });
});

describe('what is ignored', () => {
  test('Sluice’s own files, version control and temporary names; dotfiles are content', () => {
    rig.write('tree/a');
    rig.write('tree/.env');
    const before = hashTree();
    for (const name of ['.sluice/db', '.sluice-1.a', '.manifest.jsonl', '.git/HEAD', '.hg/x', '.svn/x'])
      rig.write(`tree/${name}`);
    for (const name of ['b.part', 'b.tmp', 'b~', 'b.crdownload']) rig.write(`tree/sub/../${name}`);
    expect(hashTree()).toEqual(before);
    expect(before).toMatchObject({ files: 2 });
    expect(rig.opened).not.toContain('tree/b.tmp');
  });

  test('does not include what is asked for by its own name', () => {
    rig.write('.git/HEAD', 'ref');
    expect(rig.hasher().hashPath(rig.at('.git/HEAD'))).toMatchObject({ kind: 'file' });
    expect(hashTree('.git')).toMatchObject({ kind: 'directory', files: 1 });
  });

  test('can be added to and taken from, and each rule remembers hashes of its own', () => {
    for (const name of ['a', 'b.bak', 'c.tmp', 'node_modules/x', '.sluice/y']) rig.write(`tree/${name}`);
    const files = (...globs: string[]) => hashTree('tree', { ignore: ignoreRule(globs) });
    expect(files()).toMatchObject({ files: 3 });
    expect(files('*.bak', 'node_modules/')).toMatchObject({ files: 1 });
    expect(files('!*.tmp', '!.sluice')).toMatchObject({ files: 4 });
    rig.write('pair/a');
    rig.write('pair/b');
    hashTree('pair');
    const without = (name: string) => hashTree('pair', { ignore: ignoreRule([name]) });
    expect(without('a')).not.toEqual(without('b'));
  });

  test.each(['build/cache', '', '!', '/abs'])('refuses %j as a rule for names', (glob) => {
    expect(() => ignoreRule([glob])).toThrow(IgnoreError);
  });
});

describe('what is reported', () => {
  test('a file in the tree that cannot be read, by its own path', () => {
    rig.write('tree/sub/secret');
    rig.disk = { ...DISK, open: refusing('EACCES') };
    expect(hashTree()).toEqual({
      kind: 'unreadable',
      path: rig.at('tree/sub/secret'),
      reason: 'permission to read it is missing (EACCES)',
    });
  });

  test('a directory in the tree that cannot be listed', () => {
    rig.write('tree/sub/a');
    rig.disk = { ...DISK, list: (path) => (path.endsWith('sub') ? refusing('EACCES')() : DISK.list(path)) };
    expect(hashTree()).toMatchObject({ kind: 'unreadable', path: rig.at('tree/sub') });
  });

  test('a name that is not UTF-8, unless it is ignored', () => {
    rig.write('tree/a\uFFFD');
    const odd = (text: string) =>
      Buffer.concat([Buffer.from(`${rig.at('tree')}/`), Buffer.from(text, 'latin1')]);
    writeFileSync(odd('caf\xe9.tmp'), '');
    expect(hashTree()).toMatchObject({ kind: 'directory', files: 1 });
    writeFileSync(odd('caf\xe9'), '');
    expect(hashTree()).toEqual({
      kind: 'unreadable',
      path: `${rig.at('tree')}/caf\\xe9`,
      reason: 'its name is not UTF-8: rename it',
    });
  });

  test('nothing about a file that goes away between listing and reading', () => {
    rig.write('tree/a');
    rig.write('tree/b');
    rig.disk = { ...DISK, lstat: (path) => (path.endsWith('a') ? null : DISK.lstat(path)) };
    expect(hashTree()).toMatchObject({ kind: 'directory', files: 1 });
  });
});

describe('what is hashed again', () => {
  beforeEach(() => {
    for (const top of ['a', 'b', 'c']) {
      for (const sub of ['x', 'y', 'z']) for (let i = 0; i < 10; i++) rig.write(`tree/${top}/${sub}/${i}`);
    }
    hashTree();
    rig.forgetCounts();
  });

  test('nothing, when nothing changed', () => {
    hashTree();
    expect([rig.opened, rig.hashes]).toEqual([[], 0]);
  });

  test('nothing in the next process either', () => {
    rig.cache.save();
    hashTree('tree', { cache: rig.newCache() });
    expect([rig.opened, rig.hashes]).toEqual([[], 0]);
  });

  test('an added file and the nodes above it', () => {
    rig.write('tree/b/y/new');
    hashTree();
    expect(rig.opened).toEqual(['tree/b/y/new']);
    expect(rig.hashes).toBe(1 + 3);
  });

  test('for a removed file only the nodes above it', () => {
    unlinkSync(rig.at('tree/b/y/3'));
    hashTree();
    expect([rig.opened, rig.hashes]).toEqual([[], 3]);
  });

  test('an edited file that was looked at by itself in between changes the tree too', () => {
    rig.write('tree/b/y/3', 'edited');
    rig.hasher().hashPath(rig.at('tree/b/y/3'));
    expect(hashTree()).toEqual(rig.afresh('tree'));
    expect(rig.opened).toEqual(['tree/b/y/3']);
  });

  test('an edited file that was looked at by itself during a pause changes the tree at the next look', async () => {
    rig.write('tree/a/x/large', Buffer.alloc(20 * 2 ** 20));
    const walk = rig.hasher().hashPathInSlices(rig.at('tree'));
    rig.write('tree/a/x/1', 'edited');
    rig.hasher().hashPath(rig.at('tree/a/x/1'));
    await walk;
    expect(hashTree()).toEqual(rig.afresh('tree'));
  });
});

test('a removed file is noticed where directories keep no times', () => {
  rig.freezeStamps(rig.nowMs - 3_600_000);
  rig.write('tree/a');
  rig.write('tree/b');
  hashTree();
  unlinkSync(rig.at('tree/b'));
  expect(hashTree()).toEqual(rig.afresh('tree'));
});

test('a link in a tree and the file it leads to are remembered side by side', () => {
  rig.write('tree/a');
  symlinkSync('a', rig.at('tree/link'));
  const look = () => [hashTree(), rig.hasher().hashPath(rig.at('tree/link'))];
  const first = look();
  rig.forgetCounts();
  expect(look()).toEqual(first);
  expect(rig.hashes).toBe(0);
});

test('memory never changes the answer, whatever happens to the tree between looks', () => {
  const place = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/a');
  const act = fc.oneof(
    fc.record({ act: fc.constant('write' as const), place }),
    fc.record({ act: fc.constant('remove' as const), place }),
    fc.record({ act: fc.constant('rename' as const), place, to: place }),
    fc.record({ act: fc.constant('look' as const), place }),
    fc.record({ act: fc.constant('restart' as const) }),
    fc.record({ act: fc.constant('look-at-all' as const) }),
  );
  // Every write has a length of its own, so that a clock that stands still cannot hide it from this clock.
  let length = 0;
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      rmSync(rig.at('tree'), { recursive: true, force: true });
      mkdirSync(rig.at('tree/d/e'), { recursive: true });
      for (const step of acts) {
        const path = 'place' in step ? rig.at(`tree/${step.place}`) : '';
        if (step.act === 'write') writeFileSync(path, 'x'.repeat(++length));
        else if (step.act === 'remove') rmSync(path, { force: true });
        else if (step.act === 'rename' && DISK.stat(path)) renameSync(path, rig.at(`tree/${step.to}`));
        else if (step.act === 'look') rig.hasher().hashPath(path);
        else if (step.act === 'restart') {
          rig.cache.save();
          rig.cache = rig.newCache();
        } else if (step.act === 'look-at-all') expect(hashTree()).toEqual(rig.afresh('tree'));
      }
      expect(hashTree()).toEqual(rig.afresh('tree'));
    }),
    { numRuns: 100 },
  );
});
