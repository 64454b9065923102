import { describe, expect, test } from 'vitest';
import { nextFireMs, parseSchedule } from '../../schema/schedule.ts';

function fires(text: string, timezone: string | null, from: string, count: number): string[] {
  const parsed = parseSchedule(text, timezone);
  if (!parsed.ok) throw new Error(parsed.message);
  const times: string[] = [];
  for (let at: number | null = Date.parse(from); times.length < count; ) {
    at = nextFireMs(parsed.schedule, timezone, at);
    if (at === null) break;
    times.push(new Date(at).toISOString().replace('.000Z', 'Z'));
  }
  return times;
}

describe('parseSchedule', () => {
  test.each([
    ['*/15 * * * * *', '*/15 * * * * *'],
    ['  0 0 2 * * *  ', '0 0 2 * * *'],
    ['30 2 * * 1-5', '30 2 * * 1-5'],
    ['@daily', '0 0 0 * * *'],
    ['@midnight', '0 0 0 * * *'],
    ['@hourly', '0 0 * * * *'],
    ['@weekly', '0 0 0 * * 0'],
    ['@monthly', '0 0 0 1 * *'],
    ['@yearly', '0 0 0 1 1 *'],
    ['@annually', '0 0 0 1 1 *'],
    ['0 0 0 29 2 *', '0 0 0 29 2 *'],
  ])('%j is the cron expression %j', (text, expression) => {
    expect(parseSchedule(text, null)).toEqual({ ok: true, schedule: { kind: 'cron', expression } });
  });

  test.each([
    ['@every 5m', 300_000],
    ['@every  90s', 90_000],
    ['@every 1s', 1_000],
  ])('%j is an interval of %d ms', (text, ms) => {
    expect(parseSchedule(text, 'Europe/Berlin')).toEqual({ ok: true, schedule: { kind: 'every', ms } });
  });

  test.each([
    ['', /not a schedule/],
    ['soon', /not a schedule/],
    ['* * * *', /not a schedule/],
    ['* * * * * * *', /not a schedule/],
    ['60 * * * * *', /not a schedule/],
    ['0 0 25 * * *', /not a schedule/],
    ['0 0 0 * 13 *', /not a schedule/],
    ['constructor', /not a schedule/],
    ['@fortnightly', /not a schedule/],
    ['@every', /not a schedule/],
    ['@every soon', /expected a duration/],
    ['@every 0s', /at least one second/],
    ['@every 500ms', /at least one second/],
    ['0 0 0 30 2 *', /never fires/],
    ['0 0 0 31 4,6,9,11 *', /never fires/],
  ])('%j is refused: %s', (text, message) => {
    const hint = expect.stringMatching(/\w/);
    expect(parseSchedule(text, null)).toEqual({ ok: false, message: expect.stringMatching(message), hint });
  });

  test('an unknown time zone is refused by name', () => {
    const refused = { ok: false, message: "'Mars/Olympus' is not a time zone" };
    expect(parseSchedule('@daily', 'Mars/Olympus')).toMatchObject(refused);
    expect(parseSchedule('@every 5m', 'Mars/Olympus')).toMatchObject(refused);
  });
});

describe('nextFireMs', () => {
  test('seconds count', () => {
    expect(fires('*/20 * * * * *', null, '2026-01-15T10:00:05Z', 3)).toEqual([
      '2026-01-15T10:00:20Z',
      '2026-01-15T10:00:40Z',
      '2026-01-15T10:01:00Z',
    ]);
  });

  test('five fields fire at second zero', () => {
    expect(fires('30 2 * * *', null, '2026-01-15T02:30:00Z', 1)).toEqual(['2026-01-16T02:30:00Z']);
  });

  test('a zone moves the hour, and without one it is UTC', () => {
    expect(fires('0 0 2 * * *', 'America/Los_Angeles', '2026-01-15T00:00:00Z', 1)).toEqual([
      '2026-01-15T10:00:00Z',
    ]);
    expect(fires('0 0 2 * * *', null, '2026-01-15T00:00:00Z', 1)).toEqual(['2026-01-15T02:00:00Z']);
  });

  test('02:30 in the gap of spring fires once, at 03:00 local, and the next day as usual', () => {
    expect(fires('0 30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ]);
  });

  test('02:30 in the overlap of autumn fires once', () => {
    const times = fires('0 30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2);
    expect(times[0]).toMatch(/^2026-10-25T0[01]:30:00Z$/);
    expect(times[1]).toBe('2026-10-26T01:30:00Z');
  });

  test('the 29th of February waits for a leap year', () => {
    expect(fires('0 0 0 29 2 *', null, '2026-01-01T00:00:00Z', 2)).toEqual([
      '2028-02-29T00:00:00Z',
      '2032-02-29T00:00:00Z',
    ]);
  });

  test('an interval counts from the time it is given, across a change of clocks', () => {
    expect(fires('@every 12h', 'Europe/Berlin', '2026-03-28T18:00:00Z', 2)).toEqual([
      '2026-03-29T06:00:00Z',
      '2026-03-29T18:00:00Z',
    ]);
  });
});
