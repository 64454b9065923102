// Cron with seconds, time zones and shortcuts, and `@every`: what a schedule means and whether it ever fires.

import { Cron } from 'croner';
import { parseDuration } from './duration.ts';

export type ParsedSchedule =
  | { readonly kind: 'cron'; readonly expression: string }
  | { readonly kind: 'every'; readonly ms: number };

export type ScheduleResult =
  | { readonly ok: true; readonly schedule: ParsedSchedule }
  | { readonly ok: false; readonly message: string; readonly hint: string };

const SHORTCUTS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@annually', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 0'],
  ['@daily', '0 0 0 * * *'],
  ['@midnight', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
]);

const EXAMPLE =
  'write six fields (second minute hour day month weekday), for example "0 0 2 * * *" for 02:00 daily';

export function parseSchedule(text: string, timezone: string | null): ScheduleResult {
  if (timezone !== null && !isTimezone(timezone)) {
    return {
      ok: false,
      message: `'${timezone}' is not a time zone`,
      hint: 'use a name such as Europe/Berlin or UTC',
    };
  }
  const every = /^@every\s+(.+)$/.exec(text.trim());
  if (every) return parseEvery(every[1]!);
  const expression = SHORTCUTS.get(text.trim()) ?? text.trim();
  if (!/^(\S+\s+){4,5}\S+$/.test(expression))
    return { ok: false, message: `'${text}' is not a schedule`, hint: EXAMPLE };
  try {
    // A fixed day to look from: whether a pattern ever fires does not depend on today.
    if (nextFireMs({ kind: 'cron', expression }, timezone, 0) === null)
      return { ok: false, message: `'${text}' never fires`, hint: 'check the day and the month' };
  } catch (cause) {
    return { ok: false, message: `'${text}' is not a schedule: ${(cause as Error).message}`, hint: EXAMPLE };
  }
  return { ok: true, schedule: { kind: 'cron', expression } };
}

/** The first time after `afterMs`; an interval counts from there. Without a zone, UTC: the same on every machine. */
export function nextFireMs(
  schedule: ParsedSchedule,
  timezone: string | null,
  afterMs: number,
): number | null {
  if (schedule.kind === 'every') return afterMs + schedule.ms;
  const cron = new Cron(schedule.expression, { paused: true, timezone: timezone ?? 'UTC' });
  return cron.nextRun(new Date(afterMs))?.getTime() ?? null;
}

function parseEvery(text: string): ScheduleResult {
  const parsed = parseDuration(text);
  if (!parsed.ok) return parsed;
  if (parsed.ms < 1_000)
    return { ok: false, message: '@every is at least one second', hint: 'write for example @every 5m' };
  return { ok: true, schedule: { kind: 'every', ms: parsed.ms } };
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
