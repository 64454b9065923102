import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Stamp } from '../../host/disk.ts';
import { NONE, type StatCache } from '../../host/stat-cache.ts';
import { decodeTable } from '../../host/stat-table.ts';
import type { Blake3 } from '../../schema/words.ts';
import { HashRig } from './hash-rig.ts';

let rig: HashRig;
beforeEach(() => {
  rig = new HashRig();
});
afterEach(() => rig.remove());

const DAY_MS = 86_400_000;

function stampFrom(changes: Partial<Stamp> = {}): Stamp {
  return {
    kind: 'file',
    size: 5,
    mtimeNs: 1_000_000_001n,
    ctimeNs: 1_000_000_002n,
    ino: 3n,
    dev: 4n,
    ...changes,
  };
}

function hashFrom(number: number): Blake3 {
  return `blake3:${number.toString(16).padStart(64, '0')}` as Blake3;
}

function found(cache: StatCache, key: string, stamp = stampFrom()): Blake3 | null {
  const slot = cache.find(key, stamp);
  return slot === NONE ? null : cache.hashAt(slot);
}

function remember(cache: StatCache, key: string, number = 1, stamp = stampFrom()) {
  return cache.remember(key, stamp, hashFrom(number), rig.nowMs);
}

describe('an entry', () => {
  test('holds while every part of the stamp is the same', () => {
    remember(rig.cache, '/a');
    expect(found(rig.cache, '/a')).toBe(hashFrom(1));
    expect(found(rig.cache, '/b')).toBeNull();
  });

  test.each([
    { size: 6 },
    { mtimeNs: 1_000_000_000n },
    { ctimeNs: 1_000_000_003n },
    { ino: 2n ** 60n },
    { dev: 5n },
  ])('does not hold with another %o', (change) => {
    remember(rig.cache, '/a');
    expect(found(rig.cache, '/a', stampFrom(change))).toBeNull();
  });

  const nowMs = 1_700_000_000_500;
  test.each([
    ['in the same tick', { ctimeNs: BigInt(nowMs) * 1_000_000n + 1n }, false],
    ['a tick before', { ctimeNs: BigInt(nowMs - 10) * 1_000_000n + 1n }, false],
    ['well before', { ctimeNs: BigInt(nowMs - 100) * 1_000_000n + 1n }, true],
    ['in the future', { mtimeNs: BigInt(nowMs + DAY_MS) * 1_000_000n }, false],
    ['a moment before, in whole seconds', { ctimeNs: BigInt(nowMs - 500) * 1_000_000n }, false],
    ['long before, in whole seconds', { ctimeNs: BigInt(nowMs - 5_500) * 1_000_000n }, true],
  ])('of a file stamped %s is kept or not', (_, change, kept) => {
    rig.nowMs = nowMs;
    const stamp = stampFrom(change);
    remember(rig.cache, '/a', 1, stamp);
    expect(found(rig.cache, '/a', stamp)).toBe(kept ? hashFrom(1) : null);
  });

  test('that became racy takes the older one of its path away', () => {
    remember(rig.cache, '/a');
    expect(remember(rig.cache, '/a', 2, stampFrom({ ctimeNs: BigInt(rig.nowMs) * 1_000_000n }))).toBe(NONE);
    expect(rig.cache.size).toBe(0);
  });

  test('is younger than all before it, in this process and the next', () => {
    const first = rig.cache.orderAt(remember(rig.cache, '/a'));
    const second = rig.cache.orderAt(remember(rig.cache, '/b'));
    const again = rig.cache.orderAt(remember(rig.cache, '/a'));
    rig.cache.save();
    const next = rig.newCache();
    expect(next.orderAt(next.find('/a', stampFrom()))).toBe(again);
    const last = next.orderAt(remember(next, '/c'));
    expect([first, second, again, last]).toEqual([first, second, again, last].toSorted((a, b) => a - b));
    expect(new Set([first, second, again, last]).size).toBe(4);
  });
});

describe('the file', () => {
  const file = () => join(rig.dir, '.sluice-cache');

  test('is not read before the first question nor written without a change', () => {
    writeFileSync(file(), 'left alone');
    rig.cache.save();
    expect(readFileSync(file(), 'utf8')).toBe('left alone');
  });

  test('brings back 100,000 entries', () => {
    for (let i = 0; i < 100_000; i++) remember(rig.cache, `/data/${i}.wav`, i, stampFrom({ ino: BigInt(i) }));
    rig.cache.save();
    expect(statSync(file()).size).toBeLessThan(12_000_000);
    const next = rig.newCache();
    expect(next.size).toBe(100_000);
    for (let i = 0; i < 100_000; i += 777)
      expect(found(next, `/data/${i}.wav`, stampFrom({ ino: BigInt(i) }))).toBe(hashFrom(i));
  });

  test('brings back any sequence of changes', () => {
    const key = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('/a\0/', '/é', '/e\u0301', '/two\nlines'),
    );
    const change = fc.record({ key, number: fc.option(fc.nat()), save: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        rmSync(file(), { force: true });
        let cache = rig.newCache();
        const expected = new Map<string, number>();
        for (const { key, number, save } of changes) {
          if (number === null) cache.forget(key);
          else remember(cache, key, number);
          if (number === null) expected.delete(key);
          else expected.set(key, number);
          if (save) {
            cache.save();
            cache = rig.newCache();
          }
        }
        cache.save();
        const last = rig.newCache();
        expect(last.size).toBe(expected.size);
        for (const [key, number] of expected) expect(found(last, key)).toBe(hashFrom(number));
      }),
      { numRuns: 60 },
    );
  });

  test('that is broken anywhere is an empty cache, and is replaced by a good one', () => {
    remember(rig.cache, '/a');
    remember(rig.cache, '/b', 2);
    rig.cache.save();
    const good = readFileSync(file());
    for (let at = 0; at < good.length; at++) {
      const broken = Buffer.from(good);
      broken[at]! ^= 0x40;
      expect(decodeTable(broken, rig.blake3.hash)).toBeNull();
      expect(decodeTable(good.subarray(0, at), rig.blake3.hash)).toBeNull();
    }
    writeFileSync(file(), good.subarray(1));
    const next = rig.newCache();
    expect(next.size).toBe(0);
    remember(next, '/c');
    next.save();
    expect(rig.newCache().size).toBe(1);
    expect(readdirSync(rig.dir)).toEqual(['.sluice-cache']);
  });

  test('that cannot be read at all is an empty cache', () => {
    mkdirSync(file());
    expect(rig.cache.size).toBe(0);
  });

  test('drops what nobody asked about for a month, and keeps the rest', () => {
    remember(rig.cache, '/gone');
    remember(rig.cache, '/used');
    rig.cache.save();
    rig.nowMs += 31 * DAY_MS;
    const later = rig.newCache();
    expect(found(later, '/used')).toBe(hashFrom(1));
    remember(later, '/new');
    later.save();
    const last = rig.newCache();
    expect([found(last, '/gone'), found(last, '/used'), found(last, '/new')]).toEqual([
      null,
      hashFrom(1),
      hashFrom(1),
    ]);
  });
});
