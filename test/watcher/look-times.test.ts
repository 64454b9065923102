import { expect, test } from 'vitest';
import { LookTimes, MOST_HINTS } from '../../watcher/look-times.ts';

const QUIET = { waitMs: null, count: 0, polls: false };
const HINTED = { waitMs: 0, count: 1, polls: false };

function looked(tookMs: number, scanIntervalMs = 60_000) {
  const clock = { ms: 0 };
  const times = new LookTimes({ scanIntervalMs, nowMs: () => clock.ms });
  times.begun('whole');
  times.ended('whole', tookMs);
  return { clock, times };
}

test('the first look is due at once, at everything', () => {
  const times = new LookTimes({ scanIntervalMs: 60_000, nowMs: () => 5 });
  expect([times.dueInMs(QUIET), times.kindNow(QUIET)]).toEqual([0, 'whole']);
});

test('without a hint everything is looked at after the interval, or 200 times what that took', () => {
  expect(looked(10).times.dueInMs(QUIET)).toBe(60_000);
  expect(looked(1_000).times.dueInMs(QUIET)).toBe(200_000);
});

test('a hint is looked at alone and at once, however long a look at everything takes', () => {
  const { times } = looked(10_000);
  expect([times.dueInMs(HINTED), times.kindNow(HINTED)]).toEqual([0, 'hinted']);
});

test('between looks at what was hinted it rests four times as long as the last one took', () => {
  const { times } = looked(10);
  times.begun('hinted');
  times.ended('hinted', 5);
  expect(times.dueInMs(HINTED)).toBe(20);
});

test('small looks neither put off the look at everything nor make it rarer', () => {
  const { clock, times } = looked(10, 1_000);
  for (let i = 0; i < 10; i++) {
    clock.ms += 100;
    times.begun('hinted');
    times.ended('hinted', 50);
  }
  expect(times.dueInMs(QUIET)).toBe(1_000);
  clock.ms = 2_000;
  expect(times.kindNow(HINTED)).toBe('whole');
});

test('what has not settled is waited for', () => {
  expect(looked(1).times.dueInMs({ ...HINTED, waitMs: 500 })).toBe(500);
});

test('more hints than are worth looking at one by one are a look at everything', () => {
  const { clock, times } = looked(1);
  clock.ms = 100;
  expect(times.kindNow({ ...HINTED, count: MOST_HINTS + 1 })).toBe('whole');
});

test('where nothing tells, everything is looked at every two seconds', () => {
  expect(looked(1).times.dueInMs({ ...QUIET, polls: true })).toBe(2_000);
});

test('what could not be told is looked for again, everywhere and ever more patiently', () => {
  const { times } = looked(1);
  const waits = Array.from({ length: 7 }, () => {
    times.failed();
    return times.dueInMs(QUIET);
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});
