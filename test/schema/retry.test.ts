import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FailureOutcome, nextStep, stillCounts } from '../../schema/retry.ts';
import type { Blake3 } from '../../schema/words.ts';
import type { Backoff, RetryRule } from '../../schema/workflow.ts';

const EXIT_1: FailureOutcome = { kind: 'exit', code: 1 };
const growing: Backoff = { kind: 'exponential', initialMs: 5_000, factor: 2, maxMs: 300_000 };
const rule = (parts: Partial<RetryRule>): RetryRule => ({
  retries: 1_000,
  on: 'failure',
  backoff: growing,
  ...parts,
});

/** Fails every time and returns the waits between attempts. */
function failUntilExhausted(retryRule: RetryRule): number[] {
  const waits: number[] = [];
  for (let failures = 1; failures <= 10; failures++) {
    const step = nextStep(retryRule, { failures, outcome: EXIT_1 });
    if (step.next === 'exhausted') break;
    waits.push(step.waitMs);
  }
  return waits;
}

describe('nextStep', () => {
  test('test_retry_with_backoff: waits grow by the factor up to the cap', () => {
    expect(failUntilExhausted(rule({ retries: 8 }))).toEqual([
      5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
    ]);
  });

  test('retries exactly 3 times with a limit of 3, however often it fails', () => {
    expect(failUntilExhausted(rule({ retries: 3 }))).toHaveLength(3);
  });

  test('never retries with a limit of 0', () => {
    expect(failUntilExhausted(rule({ retries: 0 }))).toEqual([]);
  });

  test('follows a schedule entry by entry and doubles the last one beyond it', () => {
    const backoff: Backoff = { kind: 'schedule', waitsMs: [60_000, 300_000] };
    expect(failUntilExhausted(rule({ retries: 4, backoff }))).toEqual([60_000, 300_000, 600_000, 600_000]);
  });

  test('does not wait if the schedule is empty', () => {
    expect(failUntilExhausted(rule({ retries: 2, backoff: { kind: 'schedule', waitsMs: [] } }))).toEqual([
      0, 0,
    ]);
  });

  const outcomes: readonly (readonly [string, FailureOutcome, readonly RetryRule['on'][]])[] = [
    ['exit 1', EXIT_1, ['failure', 'transient']],
    ['exit 75', { kind: 'exit', code: 75 }, ['failure', 'transient']],
    ['exit 137', { kind: 'exit', code: 137 }, ['failure', 'transient']],
    ['exit 143', { kind: 'exit', code: 143 }, ['failure', 'transient']],
    ['exit 2', { kind: 'exit', code: 2 }, ['failure']],
    ['exit 0 without outs', { kind: 'exit', code: 0 }, ['failure']],
    ['SIGKILL', { kind: 'signal', signal: 'SIGKILL' }, ['failure', 'transient']],
    ['SIGTERM', { kind: 'signal', signal: 'SIGTERM' }, ['failure', 'transient']],
    ['SIGSEGV', { kind: 'signal', signal: 'SIGSEGV' }, ['failure']],
    ['a time-out', { kind: 'timeout' }, ['failure', 'timeout', 'transient']],
    ['a lost machine', { kind: 'error' }, ['failure', 'transient']],
  ];
  test.each(outcomes)('retries after %s exactly under the policies that name it', (_, outcome, policies) => {
    const all = ['failure', 'timeout', 'transient', 'never'] as const;
    const retried = all.filter((on) => nextStep(rule({ on }), { failures: 1, outcome }).next === 'retry');
    expect(retried).toEqual(policies);
  });

  test('gives a finite wait that is not negative, whatever the numbers', () => {
    const backoff = fc.record({
      kind: fc.constant('exponential' as const),
      initialMs: fc.nat(),
      factor: fc.double({ min: 1, max: 1e300, noNaN: true }),
      maxMs: fc.option(fc.nat()),
    });
    fc.assert(
      fc.property(backoff, fc.integer({ min: 1, max: 1_000_000 }), (anyBackoff, failures) => {
        const step = nextStep(rule({ retries: failures, backoff: anyBackoff }), {
          failures,
          outcome: EXIT_1,
        });
        return step.next === 'retry' && Number.isSafeInteger(step.waitMs) && step.waitMs >= 0;
      }),
    );
  });
});

describe('stillCounts', () => {
  const history = { key: 'blake3:a' as Blake3, failures: 3 };

  test('counts failures of the same key', () => {
    expect(stillCounts(history, { key: history.key, asked: false })).toBe(true);
  });

  test('forgets failures once the key changed', () => {
    expect(stillCounts(history, { key: 'blake3:b' as Blake3, asked: false })).toBe(false);
  });

  test('forgets failures once a person asked again', () => {
    expect(stillCounts(history, { key: history.key, asked: true })).toBe(false);
  });
});
