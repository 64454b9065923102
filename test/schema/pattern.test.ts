import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expandPattern,
  matchPattern,
  normalisePath,
  type Pattern,
  parsePattern,
} from '../../schema/pattern.ts';
import { patternsOverlap } from '../../schema/pattern-overlap.ts';

function pattern(text: string): Pattern {
  const result = parsePattern(text);
  if (!result.ok) throw new Error(result.message);
  return result.pattern;
}

const match = (text: string, path: string) => {
  const found = matchPattern(pattern(text), path);
  return found && { ...found };
};

describe('matching', () => {
  it.each([
    ['summaries/{date}.txt', 'summaries/2026-01-15.txt', { date: '2026-01-15' }],
    ['logs/{date}/', 'logs/2026-01-15/', { date: '2026-01-15' }],
    ['logs/{date}/', 'logs/2026-01-15', { date: '2026-01-15' }],
    ['feeds/{feed}/{guid}', 'feeds/hackernews/12345', { feed: 'hackernews', guid: '12345' }],
    ['{date}-{lang}.txt', '2026-01-15-en.txt', { date: '2026-01-15', lang: 'en' }],
    ['/corpus/{s}.wav', '/corpus/a.wav', { s: 'a' }],
    ['{s}/{s}.bam', 'x/x.bam', { s: 'x' }],
    ['{s}/{s}-{n}.bam', 'a/a-b-c.bam', { s: 'a', n: 'b-c' }],
    ['a/{x}', 'a/line\nbreak', { x: 'line\nbreak' }],
    ['a/{x}', 'a/🎬 é', { x: '🎬 é' }],
    ['a/{x}.txt', 'a/..txt', null],
    ['a/{x}.txt', 'a/.txt', null],
    ['a/{x}', 'a/..', null],
    ['a/{x}', 'a/.', null],
    ['a/{x}', 'a/b/c', null],
    ['a/{x}', 'a/nul\0l', null],
    ['{s}/{s}.bam', 'x/y.bam', null],
    ['a/{x}', '/a/b', null],
    ['{a}-{b}', 'a-', null],
    ['{a}-{b}', '-b', null],
    ['{a}--{b}', 'x--y', { a: 'x', b: 'y' }],
    ['x{a}y', 'xy', null],
    ['ab{a}', 'a', null],
  ])('%j against %j gives %j', (text, path, expected) => {
    expect(match(text, path)).toEqual(expected);
  });

  it('takes linear time where a regular expression would take minutes', () => {
    expect(match('{a}-{b}-{c}-{d}-{e}-{f}.txt', '-'.repeat(255))).toBeNull();
  });
});

describe('refusals', () => {
  it.each([
    ['{a}{b}', 'adjacent-variables'],
    ['{a}-{a}', 'repeated-variable'],
    ['../{x}', 'pattern-climbs'],
    ['a/../../{x}', 'pattern-climbs'],
    ['data/*.txt', 'glob-in-path'],
    ['data/{a,b}.txt', 'bad-variable'],
    ['data/{}.txt', 'bad-variable'],
    ['data/{x.txt', 'bad-variable'],
    ['', 'empty-path'],
    ['a\0b', 'bad-path'],
  ])('%j is refused as %s with a next step', (text, code) => {
    const result = parsePattern(text);
    expect(result).toMatchObject({ ok: false, code });
    expect(!result.ok && result.hint.length).toBeGreaterThan(5);
  });

  it('leaves {{…}} to templates', () => {
    expect(pattern('out/{{params.x}}/{s}.txt').variables).toEqual(['s']);
  });

  it.each(['', '.', '..', 'a/b', 'a\0b'])('never expands a variable to %j', (value) => {
    expect(expandPattern(pattern('a/{x}.txt'), { x: value })).toBeNull();
  });
});

describe('normalising', () => {
  it.each([
    ['./a//b/../c', 'a/c'],
    ['a/b/', 'a/b/'],
    ['a/b/.', 'a/b/'],
    ['../x', '../x'],
    ['/../x', '/x'],
    ['/', '/'],
    ['.', '.'],
    ['a/..', '.'],
  ])('%j becomes %j', (written, expected) => {
    expect(normalisePath(written)).toBe(expected);
  });
});

describe('overlap', () => {
  it.each([
    ['out/{x}.txt', 'out/summary.txt', true],
    ['out/{x}.txt', 'out/{y}-{z}.txt', true],
    ['out/{x}.txt', 'out/{x}.md', false],
    ['a{x}', '{y}b', true],
    ['a{x}b', 'ab', false],
    ['a{x}', 'a', false],
    ['{x}', '{y}', true],
    ['a/{x}', 'a/{x}/b', false],
    ['/a/{x}', 'a/{x}', false],
    ['ab{x}cd', 'a{y}d', true],
    ['ab{x}', 'b{y}', false],
    ['{x}.b1', '{x}.b11', false],
    ['{x}.1', '{y}.b.1', true],
    ['{x}-{y}', '-{z}', true],
  ])('%j and %j: %j', (a, b, expected) => {
    expect(patternsOverlap(pattern(a), pattern(b))).toBe(expected);
    expect(patternsOverlap(pattern(b), pattern(a))).toBe(expected);
  });
});

const value = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  .filter((s) => !s.includes('/') && !s.includes('\0') && s !== '.' && s !== '..');
const patternText = fc.constantFrom(
  'd/{a}.txt',
  '{a}/{b}',
  'x/{a}-{b}.md',
  '/r/{a}/f',
  '{a}/{a}.z',
  'p{a}q/{b}.{c}',
);

describe('properties', () => {
  it('pattern expansion and matching are inverses: what is matched expands to the same bytes', () => {
    fc.assert(
      fc.property(patternText, value, value, value, (text, a, b, c) => {
        const p = pattern(text);
        const path = expandPattern(p, { a, b, c });
        if (path === null) return;
        const found = matchPattern(p, path);
        expect(found).not.toBeNull();
        expect(expandPattern(p, found!)).toBe(path);
      }),
    );
  });

  it('pattern expansion and matching are inverses: values without a separator come back as they went in', () => {
    const plain = value.filter((s) => !/[-.]/.test(s));
    fc.assert(
      fc.property(patternText, plain, plain, plain, (text, a, b, c) => {
        const p = pattern(text);
        const found = matchPattern(p, expandPattern(p, { a, b, c })!);
        for (const name of p.variables) expect(found?.[name]).toBe({ a, b, c }[name]);
      }),
    );
  });

  it('patterns that share a path overlap', () => {
    const text = fc.constantFrom('{a}.txt', 'x{a}', '{a}-{b}', 'xy{a}z', '{a}', 'a-{b}.txt', 'x{a}.txt');
    fc.assert(
      fc.property(text, text, value, value, (one, two, a, b) => {
        const path = expandPattern(pattern(one), { a, b });
        if (path !== null && matchPattern(pattern(two), path)) {
          expect(patternsOverlap(pattern(one), pattern(two))).toBe(true);
        }
      }),
    );
  });
});
