import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalBytes, compareCodePoints } from '../../schema/canonical.ts';
import type { Json } from '../../schema/words.ts';

const text = fc.string({ unit: 'binary', maxLength: 6 }).filter((s) => s.isWellFormed());
const value = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, '', '0', '1', 'true', 'null', [], {}),
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(text, tie('json'), { maxKeys: 3 }),
  ),
})).json;

const bytes = (json: Json, domain = 'test') => Buffer.from(canonicalBytes(domain, json)).toString('hex');

/** JSON text with maps as sorted, marked lists: another way to say when two values are the same. */
function sorted(json: Json): string {
  return JSON.stringify(json, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? ['\ud800map', ...Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))]
      : part,
  );
}

function reversed(json: Json): Json {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(reversed);
  const entries = Object.entries(json as Record<string, Json>).reverse();
  return Object.fromEntries(entries.map(([key, part]) => [key, reversed(part)]));
}

describe('canonical bytes', () => {
  test('the order of keys has no influence', () => {
    fc.assert(fc.property(value, (json) => void expect(bytes(reversed(json))).toBe(bytes(json))));
  });

  test('different values never share bytes, the same ones always do', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(bytes(a) === bytes(b)).toBe(sorted(a) === sorted(b));
      }),
      { numRuns: 500 },
    );
  });

  test('different values never share bytes: no value is the beginning of another, so none can run together', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        if (bytes(a) !== bytes(b)) expect(bytes(a).startsWith(bytes(b))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test.each<[Json, Json]>([
    [
      ['a', 'b'],
      ['ab', ''],
    ],
    [[['a'], 'b'], [['a', 'b']]],
    [{ a: 'b' }, ['a', 'b']],
    [{ a: { b: 1 } }, { a: {}, b: 1 }],
    [1, '1'],
    [null, 'null'],
    [true, 'true'],
    [[], {}],
    [[], ''],
    ['é', 'e\u0301'],
  ])('%j and %j differ', (a, b) => {
    expect(bytes(a)).not.toBe(bytes(b));
  });

  test('the domain is part of the bytes and cannot run into the value', () => {
    expect(bytes('x', 'a')).not.toBe(bytes('x', 'b'));
    expect(bytes('x', 'as')).not.toBe(bytes('sx', 'a'));
  });

  test('the bytes are fixed: a change here changes every key that was ever recorded', () => {
    expect(Buffer.from(canonicalBytes('d', { b: [1, null], a: 'é' })).toString('latin1')).toBe(
      '\x08sluice:1\x01dm\x02\x01as\x02\xc3\xa9\x01bl\x02d\x011n',
    );
  });

  test('minus zero is zero', () => {
    expect(bytes(-0)).toBe(bytes(0));
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('%d has no canonical form', (number) => {
    expect(() => canonicalBytes('test', number)).toThrow(RangeError);
  });

  test('a lone surrogate has no canonical form, because two of them would encode alike', () => {
    expect(() => canonicalBytes('test', '\ud800')).toThrow(RangeError);
    expect(() => canonicalBytes('test', { '\udc00': 1 })).toThrow(RangeError);
  });

  test('text longer than the first buffer is kept whole', () => {
    expect(canonicalBytes('d', 'x'.repeat(100_000))).toHaveLength(9 + 2 + 1 + 3 + 100_000);
  });
});

test('compareCodePoints orders as the UTF-8 bytes do, whatever the locale', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
  expect(['\u{1f3ac}', '\uffff', 'z', 'ä', 'Z'].sort(compareCodePoints)).toEqual([
    'Z',
    'z',
    'ä',
    '\uffff',
    '\u{1f3ac}',
  ]);
});
