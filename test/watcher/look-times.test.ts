import { expect, test } from 'vitest';
import { LookTimes } from '../../watcher/look-times.ts';

const QUIET = { settleMs: null, polls: false };

function looked(tookMs: number, scanIntervalMs = 60_000) {
  const clock = { ms: 0 };
  const times = new LookTimes({ scanIntervalMs, nowMs: () => clock.ms });
  times.begun();
  times.ended(tookMs);
  return { clock, times };
}

test('the first look is due at once', () => {
  expect(new LookTimes({ scanIntervalMs: 60_000, nowMs: () => 5 }).dueInMs(QUIET)).toBe(0);
});

test('without a hint the next look is due after the interval, or 200 times what the last one took', () => {
  expect(looked(10).times.dueInMs(QUIET)).toBe(60_000);
  expect(looked(1_000).times.dueInMs(QUIET)).toBe(200_000);
});

test('a hint makes it due soon, after a rest of four times what the last look took', () => {
  const { clock, times } = looked(10);
  times.hinted();
  expect(times.dueInMs(QUIET)).toBe(40);
  clock.ms = 50;
  expect(times.dueInMs(QUIET)).toBe(0);
});

test('a hint that comes during a look is kept for the next', () => {
  const { clock, times } = looked(1);
  clock.ms = 100;
  times.begun();
  times.hinted();
  times.ended(1);
  expect(times.dueInMs(QUIET)).toBe(4);
});

test('what has not settled is waited for, hint or not', () => {
  const { times } = looked(1);
  times.hinted();
  expect(times.dueInMs({ settleMs: 500, polls: false })).toBe(500);
});

test('where no watches are to be had it looks every two seconds', () => {
  expect(looked(1).times.dueInMs({ settleMs: null, polls: true })).toBe(2_000);
});
