// What follows a failed attempt: another one after a wait, or none until something changes.

import { type Blake3, unreachable } from './words.ts';
import type { Backoff, RetryRule } from './workflow.ts';

/**
 * How a failed attempt ended. `exit` with code 0 is a command that ended well without making its outs;
 * `error` is an attempt without an end of its own: it could not be started, or its machine was lost.
 */
export type FailureOutcome =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'error' };

export type NextStep = { readonly next: 'retry'; readonly waitMs: number } | { readonly next: 'exhausted' };

export interface FailureHistory {
  /** The key that was being made when the last failure was counted. */
  readonly key: Blake3;
  readonly failures: number;
}

/** `failures` includes the one that just happened, so with `retries: 3` the fourth exhausts. */
export function nextStep(
  rule: RetryRule,
  failed: { readonly failures: number; readonly outcome: FailureOutcome },
): NextStep {
  if (failed.failures > rule.retries || !isRetried(rule.on, failed.outcome)) return { next: 'exhausted' };
  return { next: 'retry', waitMs: waitAfter(rule.backoff, failed.failures) };
}

/** Failures made with another key, or before a person asked again, say nothing about the next attempt. */
export function stillCounts(
  history: FailureHistory,
  now: { readonly key: Blake3; readonly asked: boolean },
): boolean {
  return !now.asked && history.key === now.key;
}

// `failure` retries after any end, a time-out included. `timeout` retries after our own time-out only, not
// after a TERM from elsewhere. `transient` retries after exit codes 1, 75, 137 and 143, after KILL and TERM
// (which a shell reports as 137 and 143), after a time-out (which ends by TERM) and after a lost machine.
function isRetried(on: RetryRule['on'], outcome: FailureOutcome): boolean {
  switch (on) {
    case 'failure':
      return true;
    case 'timeout':
      return outcome.kind === 'timeout';
    case 'transient':
      return isTransient(outcome);
    case 'never':
      return false;
    default:
      return unreachable(on);
  }
}

function isTransient(outcome: FailureOutcome): boolean {
  switch (outcome.kind) {
    case 'exit':
      return TRANSIENT_CODES.includes(outcome.code);
    case 'signal':
      return TRANSIENT_SIGNALS.includes(outcome.signal);
    case 'timeout':
    case 'error':
      return true;
    default:
      return unreachable(outcome);
  }
}

const TRANSIENT_CODES: readonly number[] = [1, 75, 137, 143];
const TRANSIENT_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM'];

function waitAfter(backoff: Backoff, failures: number): number {
  switch (backoff.kind) {
    case 'exponential':
      return exponentialWait(backoff, failures);
    case 'schedule':
      return scheduledWait(backoff.waitsMs, failures);
    default:
      return unreachable(backoff);
  }
}

// A year: a back-off without a cap of its own must still give a time that a date can hold.
const LONGEST_WAIT_MS = 366 * 86_400_000;

function exponentialWait(backoff: Backoff & { kind: 'exponential' }, failures: number): number {
  if (backoff.initialMs === 0) return 0; // 0 × an overflowed factor would be NaN
  const grown = backoff.initialMs * backoff.factor ** (failures - 1);
  return Math.round(Math.min(grown, backoff.maxMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS));
}

function scheduledWait(waitsMs: readonly number[], failures: number): number {
  const wait = waitsMs[failures - 1] ?? 2 * (waitsMs.at(-1) ?? 0);
  return Math.min(wait, LONGEST_WAIT_MS);
}
