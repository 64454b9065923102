import { expect, test } from 'vitest';
import type { Stamp } from '../../host/disk.ts';
import { Settling } from '../../watcher/settling.ts';

function settling(settleMs = 50) {
  const clock = { ms: 1_000 };
  const dateMs = () => clock.ms + 1_000_000;
  return { clock, dateMs, all: new Settling({ settleMs, nowMs: () => clock.ms, dateMs }) };
}

function stamp(mtimeMs: number, ctimeMs = mtimeMs, kind: Stamp['kind'] = 'file'): Stamp {
  const [mtimeNs, ctimeNs] = [BigInt(mtimeMs) * 1_000_000n, BigInt(ctimeMs) * 1_000_000n];
  return { kind, size: 1, mtimeNs, ctimeNs, ino: 1n, dev: 1n };
}

test('what was touched is taken once it was quiet for long enough', () => {
  const { clock, all } = settling();
  all.touched('/a');
  expect([all.take(), all.waitMs()]).toEqual([[], 50]);
  clock.ms += 30;
  all.touched('/a');
  clock.ms += 49;
  expect(all.take()).toEqual([]);
  clock.ms += 11;
  expect([all.take(), all.waitMs()]).toEqual([['/a'], null]);
});

test('without a time to settle everything is taken at once', () => {
  const { all, dateMs } = settling(0);
  all.touched('/a');
  expect([all.waitMs(), all.take(), all.isSettled('/a', stamp(dateMs()))]).toEqual([0, ['/a'], true]);
});

test('who pauses between two writes is waited for twice as long as the longest pause', () => {
  const { clock, all } = settling();
  all.touched('/slow');
  clock.ms += 45;
  all.touched('/slow');
  clock.ms += 89;
  expect([all.take(), all.waitMs()]).toEqual([[], 1]);
  clock.ms += 1;
  expect(all.take()).toEqual(['/slow']);
});

test('one that is waited for longer does not hold up those behind it', () => {
  const { clock, all } = settling();
  all.touched('/slow');
  clock.ms += 45;
  all.touched('/slow');
  all.touched('/quick');
  clock.ms += 50;
  expect(all.take()).toEqual(['/quick']);
});

test('a file that was renamed into place is taken at once', () => {
  const { clock, all, dateMs } = settling();
  all.touched('/new', 'named');
  expect(all.take()).toEqual(['/new']);
  expect(all.isSettled('/new', stamp(dateMs() - 10, dateMs()))).toBe(true);
  // Just made, and perhaps about to be written.
  expect(all.isSettled('/new', stamp(dateMs()))).toBe(false);
  all.touched('/new', 'written');
  expect(all.isSettled('/new', stamp(dateMs() - 10, dateMs()))).toBe(false);
  clock.ms += 50;
  expect(all.take()).toEqual(['/new']);
});

test('a name that has gone is believed once it did not come back', () => {
  const { clock, all } = settling();
  all.touched('/gone', 'named');
  expect([all.take(), all.isSettled('/gone', null)]).toEqual([['/gone'], false]);
  clock.ms += 50;
  expect([all.take(), all.isSettled('/gone', null)]).toEqual([['/gone'], true]);
});

test('a file that nobody told about is judged by its stamp, and taken when it should have settled', () => {
  const { clock, all, dateMs } = settling();
  const written = stamp(dateMs() - 20);
  expect([all.isSettled('/a', written), all.waitMs()]).toEqual([false, 30]);
  clock.ms += 30;
  expect([all.take(), all.isSettled('/a', written)]).toEqual([['/a'], true]);
  // Somebody's wrong clock, which would never pass.
  expect(all.isSettled('/b', stamp(dateMs() + 9_000))).toBe(true);
});

test('a directory has settled once what is below it has', () => {
  const { clock, all, dateMs } = settling();
  const directory = stamp(dateMs() - 9_000, dateMs() - 9_000, 'directory');
  all.touched('/d/x/y');
  expect([all.isSettled('/d', directory), all.isSettled('/e', directory)]).toEqual([false, true]);
  clock.ms += 50;
  expect(all.take()).toEqual(['/d/x/y', '/d']);
  expect(all.isSettled('/d', directory)).toBe(true);
});
