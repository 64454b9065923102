import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Event, formatEventLine, parseEventLine } from '../../schema/events.ts';

const ts = '2026-02-16T14:00:00Z';

const EVENTS: readonly Event[] = [
  { ts, event: 'run_started', playbook: 'corpus', run_id: 'r-a1b2c3', sluice_version: '0.1.0' },
  { ts, event: 'stage_cached', stage: 'extract', cache_key: 'blake3:12', reason: 'cache_key matches lock' },
  { ts, event: 'stage_cached', stage: 'extract', reason: 'cache_key matches lock', count: 6_452 },
  { ts, event: 'stage_started', stage: 'a', entity: 'x\ny', target: 'intel', cache_miss_reason: '"m" → "n"' },
  { ts, event: 'stage_started', stage: 'a', target: 'intel', cache_miss_reason: 'forced', purified: false },
  { ts, event: 'stage_completed', stage: 'a', duration_seconds: 0.25, outs_hash: 'blake3:55' },
  { ts, event: 'stage_failed', stage: 'a', exit_code: 137, retry_attempt: 1, error: 'OOM killed' },
  { ts, event: 'stage_failed', stage: 'a', exit_code: null, retry_attempt: 0, error: 'timed out' },
  { ts, event: 'stage_retry', stage: 'a', attempt: 2, backoff_seconds: 10 },
  {
    ts,
    event: 'run_completed',
    run_id: 'r-a1b2c3',
    stages_run: 4,
    stages_cached: 2,
    stages_failed: 0,
    total_seconds: 32_400,
  },
  { ts, event: 'gate_passed', stage: 'v', gate: 'quality_gate', grade: 'B+', details: { coverage: 92.1 } },
  {
    ts,
    event: 'gate_failed',
    stage: 'v',
    gate: 'tdg',
    grade: 'D',
    min_required: 'B',
    violations: ['a.rs: F'],
  },
];

describe('the event log', () => {
  test.each(EVENTS)('writes $event as one line that reads back the same', (event) => {
    const line = formatEventLine(event);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(parseEventLine(line)).toEqual({ kind: 'event', event });
  });

  test('puts the time and the name of the event first', () => {
    expect(formatEventLine(EVENTS[6]!)).toMatch(/^\{"ts":"2026-02-16T14:00:00Z","event":"stage_failed",/);
  });

  test('returns an event of a newer version as unknown, not as an error', () => {
    expect(parseEventLine('{"ts":"x","event":"stage_teleported"}')).toEqual({
      kind: 'unknown',
      name: 'stage_teleported',
    });
  });

  test('returns a line that a crash cut off as torn', () => {
    const line = formatEventLine(EVENTS[0]!);
    for (let length = 1; length < line.length - 1; length++)
      expect(parseEventLine(line.slice(0, length)).kind).toBe('torn');
  });

  test('returns an empty line as blank', () => {
    expect(parseEventLine('\r\n')).toEqual({ kind: 'blank' });
  });

  test.each(['null', '7', '[]', '{}', '{"event":3}'])('says that %s is not an event', (line) => {
    expect(parseEventLine(line).kind).toBe('invalid');
  });

  test('names the field that is wrong in a known event', () => {
    const line = JSON.stringify({ ...EVENTS[8], attempt: 'two' });
    expect(parseEventLine(line)).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^stage_retry: attempt: /),
    });
  });

  test('does not let an inherited name stand for an event', () => {
    expect(parseEventLine('{"event":"constructor"}')).toEqual({ kind: 'unknown', name: 'constructor' });
  });

  test('keeps hostile details from reaching any prototype', () => {
    parseEventLine(
      `{"ts":"${ts}","event":"gate_passed","stage":"s","gate":"g","details":{"__proto__":{"polluted":1}}}`,
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('never throws, whatever the line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        expect(() => parseEventLine(line)).not.toThrow();
      }),
    );
  });
});
