import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../schema/duration.ts';

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1_500],
    ['1.1h', 3_960_000],
    [' 3 s ', 3_000],
    ['3600s', 3_600_000],
    ['0', 0],
  ])('reads %j as %d ms', (written, ms) => {
    expect(parseDuration(written)).toEqual({ ok: true, ms });
  });

  test.each([
    ['90', 90_000],
    [90, 90_000],
    [0.5, 500],
  ])('takes the bare number %j as seconds', (written, ms) => {
    expect(parseDuration(written)).toEqual({ ok: true, ms });
  });

  test.each([
    '',
    ' ',
    '-5s',
    '5 parsecs',
    '5S',
    '1h30m',
    'Infinity',
    '1e3s',
    '.',
    's',
    `${'9'.repeat(400)}s`,
  ])('refuses %j with an example of what it expects', (written) => {
    expect(parseDuration(written)).toMatchObject({
      ok: false,
      message: expect.stringContaining('expected a duration such as 500ms, 5s, 10m, 2h'),
    });
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300])('refuses the number %d', (written) => {
    expect(parseDuration(written).ok).toBe(false);
  });

  test('never rounds a positive duration down to zero, which would mean no limit', () => {
    expect(parseDuration('0.2ms')).toEqual({ ok: true, ms: 1 });
  });

  test('returns a whole number of milliseconds or a refusal for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^\d{1,9}(\.\d{1,5})?[smhd]$/)),
        (written) => {
          const parsed = parseDuration(written);
          return !parsed.ok || (Number.isSafeInteger(parsed.ms) && parsed.ms >= 0);
        },
      ),
    );
  });
});

describe('formatDuration', () => {
  test.each([
    [0, '0ms'],
    [250, '250ms'],
    [999.7, '1s'],
    [1_250, '1.3s'],
    [9_960, '10s'],
    [59_700, '1m'],
    [200_000, '3m 20s'],
    [3_600_000, '1h'],
    [3_605_000, '1h'],
    [7_500_000, '2h 5m'],
    [273_600_000, '3d 4h'],
  ])('shows %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
