// Whether the clock goes forward, steadily, and with that of the control plane.

import { type Finding, fail, ok, warn } from './finding.ts';

export interface ClockFacts {
  readonly nowMs: number;
  /** How far the clock went while the steady one went this far. */
  readonly wentMs: number;
  readonly steadyMs: number;
  readonly isSteady: boolean;
  /** Of the control plane minus ours, at best; null if none was asked. */
  readonly aheadMs: number | null;
}

/** Sluice is younger than that. */
const TOO_EARLY_MS = Date.UTC(2025, 0);
const TOLD_SKEW_MS = 2_000;
const WORST_SKEW_MS = 60_000;
const JUMP_MS = 1_000;
const REMEDY = 'let the machine keep its clock by NTP: timedatectl set-ntp true';

export function judgeClock({ nowMs, wentMs, steadyMs, isSteady, aheadMs }: ClockFacts): Finding {
  const now = new Date(nowMs).toISOString();
  if (!isSteady)
    return fail('clock', 'the monotonic clock went backwards', 'look for a newer kernel or hypervisor');
  if (nowMs < TOO_EARLY_MS) return fail('clock', `the clock says ${now}`, REMEDY);
  if (Math.abs(wentMs - steadyMs) > JUMP_MS)
    return warn('clock', `the clock was set by ${seconds(wentMs - steadyMs)} while this ran`, REMEDY);
  if (aheadMs === null) return ok('clock', now);
  const skew = `it is ${seconds(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead of'} the control plane`;
  if (Math.abs(aheadMs) > WORST_SKEW_MS) return fail('clock', `${now}; ${skew}`, REMEDY);
  if (Math.abs(aheadMs) > TOLD_SKEW_MS) return warn('clock', `${now}; ${skew}`, REMEDY);
  return ok('clock', `${now}, as on the control plane`);
}

/** A Date header has whole seconds, and was written somewhere between asking and answer. */
export function aheadOf(
  date: string | null,
  { askedMs, answeredMs }: { askedMs: number; answeredMs: number },
) {
  const fromMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(fromMs)) return null;
  if (fromMs > answeredMs) return fromMs - answeredMs;
  return fromMs + 1_000 < askedMs ? fromMs + 1_000 - askedMs : 0;
}

export function isSteady(nowMs: () => number): boolean {
  let before = nowMs();
  for (let i = 0; i < 1_000; i++) {
    const now = nowMs();
    if (now < before) return false;
    before = now;
  }
  return true;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
