// What a node answers. Failures that can be expected are values, with the next step in their text.

import type { FailureOutcome } from '../../schema/retry.ts';

export type NodeResult =
  | { readonly kind: 'made' }
  /** An `if` whose condition is false: no out is expected. */
  | { readonly kind: 'skipped'; readonly because: string }
  | { readonly kind: 'cancelled' }
  | Failed;

export interface Failed {
  readonly kind: 'failed';
  readonly error: string;
  /** Whether the same attempt may go well later. */
  readonly transient: boolean;
  /** How the command behind it ended, or that time was up; null if there is neither to tell. */
  readonly outcome: FailureOutcome | null;
}

/** A part of the work: its value, or the failure that ends the node. */
export type Part<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failed: Failed };

export interface Limits {
  /** Of one answer, from a server or an agent. */
  readonly answerBytes: number;
  /** Of a file that is read, and of all that an agent is given together. */
  readonly inputBytes: number;
}

export const DEFAULT_LIMITS: Limits = { answerBytes: 64 * 2 ** 20, inputBytes: 64 * 2 ** 20 };

export const MADE: NodeResult = { kind: 'made' };
export const CANCELLED = { kind: 'cancelled' } as const;

export function failed(error: string): Failed {
  return { kind: 'failed', error, transient: false, outcome: null };
}

export function failedForNow(error: string): Failed {
  return { kind: 'failed', error, transient: true, outcome: null };
}

export function timedOut(error: string): Failed {
  return { kind: 'failed', error, transient: true, outcome: { kind: 'timeout' } };
}

export function part<T>(value: T): Part<T> {
  return { ok: true, value };
}

export function noPart(error: string): { readonly ok: false; readonly failed: Failed } {
  return { ok: false, failed: failed(error) };
}
