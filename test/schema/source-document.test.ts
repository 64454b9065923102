import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../schema/diagnostic.ts';
import { readDocument } from '../../schema/source-document.ts';

function read(text: string) {
  const problems: Diagnostic[] = [];
  const document = readDocument(text, (problem) => problems.push(problem));
  return { document, problems };
}

const codes = (text: string) => read(text).problems.map(({ code }) => code);
const part = (text: string, { span }: Pick<Diagnostic, 'span'>) => text.slice(span.start, span.end);

describe('refusals', () => {
  test.each([
    ['an empty file', '', 'empty-file'],
    ['only white space', ' \n\n', 'empty-file'],
    ['a tab as indentation', 'a:\n\tb: 1\n', 'tab-indentation'],
    ['a second document', 'a: 1\n---\nb: 2\n', 'syntax'],
    ['an open bracket', 'a: [1, 2', 'syntax'],
    ['an unknown anchor', 'a: *nobody', 'unknown-anchor'],
    ['a map as a key', '? {a: 1}\n: 2\n', 'bad-key'],
    ['an empty key', '~: 1\n"": 2\n', 'bad-key'],
    ['__proto__', '__proto__: {a: 1}', 'bad-key'],
    ['a merge key', 'a: &a {x: 1}\nb:\n  <<: *a\n', 'bad-key'],
    ['an integer beyond 2^53', 'a: 9007199254740993', 'bad-number'],
    ['a negative integer beyond 2^53', 'a: -9007199254740993', 'bad-number'],
    ['a hexadecimal integer beyond 2^53', 'a: 0x20000000000001', 'bad-number'],
    ['infinity', 'a: .inf', 'bad-number'],
    ['not a number', 'a: .nan', 'bad-number'],
    ['half a character', 'a: "\\ud800"', 'bad-text'],
    ['half a character in a key', '"\\ud800": 1', 'bad-text'],
    ['a date', 'a: !!timestamp 2026-01-15', 'bad-tag'],
    ['a binary', 'a: !!binary aGVsbG8=', 'bad-tag'],
    ['a set', 'a: !!set {x, y}', 'bad-tag'],
    ['a tag of somebody', 'a: !mine x', 'bad-tag'],
    ['an alias of what stands around it', 'a: &a\n  b: *a\n', 'too-many-aliases'],
  ])('%s: %j gives %s', (_, text, code) => {
    const { document, problems } = read(text);
    expect(document).toBeNull();
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(problems[0]).toMatchObject({ severity: 'error', hint: expect.stringMatching(/\w/) });
  });

  test('a hint names the next step for tabs, documents and numbers', () => {
    const hint = (text: string) => read(text).problems[0]!.hint;
    expect(hint('a:\n\tb: 1\n')).toContain('spaces');
    expect(hint('a: 1\n---\nb: 2\n')).toBe('keep one workflow per file');
    expect(hint('a: 9007199254740993')).toBe('write it as text: "9007199254740993"');
  });

  test.each([
    ['in a block', 'a: 1\nb: 2\na: 3\n', { a: 1, b: 2 }],
    ['in a flow map', '{"a": 1, "a": 2}', { a: 1 }],
    ['as a number and its text', '1: a\n"1": b\n', { 1: 'a' }],
  ])('a key that stands twice %s is told, and the rest is read with the first of them', (_, text, value) => {
    expect(codes(text)).toEqual(['duplicate-key']);
    expect(read(text).document?.value).toEqual(value);
  });

  test('an anchor in what stands twice is not told as missing', () => {
    expect(codes('a: 1\na: &x 2\nb: *x\n')).toEqual(['duplicate-key']);
  });

  test.each([
    ['alone', 'cmd: {{params.x}}\n', 'put the text in quotes'],
    ['with more behind it', 'cmd: {{params.x}} now\n', 'put the text in quotes'],
    ['in a list', 'outs:\n  - {{params.x}}.txt\n', 'put the text in quotes'],
    ['as a reserved character', 'cmd: @x\n', 'put the text in quotes'],
    ['with a colon', 'cmd: a: b\n', 'put the text in quotes'],
    ['before a line that is not lined up', 'a:\n   b: x\n    c: y\n', 'line the keys'],
  ])('a text that YAML reads as something else, %s, has its remedy', (_, text, remedy) => {
    const { problems } = read(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.hint).toContain(remedy);
  });

  test('a duplicate key is shown where it stands the second time', () => {
    const text = 'stages:\n  a: 1\n  a: 2\n';
    const [problem] = read(text).problems;
    expect(problem!.span).toEqual({ start: text.lastIndexOf('a'), end: text.lastIndexOf('a') + 1 });
  });

  test('an alias bomb is refused before it expands', () => {
    const lines = Array.from(
      { length: 9 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`,
    );
    expect(codes(['a0: &a0 [x]', ...lines].join('\n'))).toEqual(['too-many-aliases']);
  });

  test('a chain of 50,000 aliases is refused at once', () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `- &a${i + 1} [*a${i}]`);
    expect(codes(['- &a0 [x]', ...lines].join('\n'))).toEqual(['too-many-aliases']);
  });

  test.each([
    ['brackets', '['.repeat(100_000)],
    ['braces', '{a: '.repeat(100_000)],
    ['brackets that pretend to close in quotes', '["]", '.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
    ['dashes and tabs', '-\t'.repeat(100_000)],
    ['question marks', '? '.repeat(100_000)],
    ['indentation', Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('nesting by %s is refused instead of ending the process', (_, text) => {
    expect(codes(text)).toEqual(['too-deep']);
  });

  test('brackets in text do not count as nesting', () => {
    expect(codes(`a: "${'['.repeat(300)}"\nb: don't ${'['.repeat(300)}\n`)).toEqual([]);
  });

  test('50,000 keys are read without looking at each pair of them', () => {
    const text = Array.from({ length: 50_000 }, (_, i) => `k${i}: 1`).join('\n');
    expect(codes(text)).toEqual([]);
  });
});

describe('values', () => {
  test.each([
    ['{"a": [1, "x", null, true]}', { a: [1, 'x', null, true] }],
    ['a: 0x1f\nb: 0o17\nc: 1e3\n', { a: 31, b: 15, c: 1000 }],
    ['a: yes\nb: 2026-01-15\nc: 012\n', { a: 'yes', b: '2026-01-15', c: 12 }],
    ['a: !!str 5\n', { a: '5' }],
    ['a: &x {n: 1}\nb: *x\nc: *x\n', { a: { n: 1 }, b: { n: 1 }, c: { n: 1 } }],
    ['a: "9007199254740993"', { a: '9007199254740993' }],
    ['\ufeffa: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
  ])('%j is %j', (text, value) => {
    expect(read(text).document?.value).toEqual(value);
  });
});

describe('spans', () => {
  const text =
    'stages:\n  make:\n    cmd: "echo {{params.x}} done"\n    deps: [a, bb]\n  1: {n: 2}\n  use: &u {k: v}\n  too: *u\n';
  const { document } = read(text);
  const shownAt = (span: Diagnostic['span'] | undefined) => text.slice(span!.start, span!.end);

  test.each<[string, (string | number)[]]>([
    ['bb', ['stages', 'make', 'deps', 1]],
    ['[a, bb]', ['stages', 'make', 'deps', 9]],
    ['2', ['stages', '1', 'n']],
    ['v', ['stages', 'too', 'k']],
    ['"echo {{params.x}} done"', ['stages', 'make', 'cmd', 'deeper']],
  ])('the value %s is found at %j', (expected, path) => {
    expect(shownAt(document?.valueSpan(path))).toBe(expected);
  });

  test('a key is found, or the value where there is none', () => {
    expect(shownAt(document?.keySpan(['stages', 'make', 'cmd']))).toBe('cmd');
    expect(shownAt(document?.keySpan(['stages', '1']))).toBe('1');
    expect(shownAt(document?.keySpan(['stages', 'make', 'deps', 0]))).toBe('a');
  });

  test('words inside a value are found, or the whole value where they are not', () => {
    const at = ['stages', 'make', 'cmd'];
    const value = 'echo {{params.x}} done';
    expect(shownAt(document?.spanWithin(at, value, { start: 7, end: 15 }))).toBe('params.x');
    expect(shownAt(document?.spanWithin(at, 'folded\ntext', { start: 0, end: 11 }))).toBe(`"${value}"`);
  });

  test('of words that stand several times, those that are meant are found', () => {
    const twice = 'cmd: >\n  use params.x\n  {{params.x}} {{params.x}}\nafter: params.x params.x params.x\n';
    const value = 'use params.x {{params.x}} {{params.x}}\n';
    for (const start of [4, 15, 28]) {
      const span = read(twice).document?.spanWithin(['cmd'], value, { start, end: start + 8 });
      expect(span).toEqual({
        start: start + 'cmd: >\n  '.length + (start > 4 ? 2 : 0),
        end: expect.any(Number),
      });
      expect(twice.slice(span!.start, span!.end)).toBe('params.x');
    }
  });

  test('a syntax error is shown where it is', () => {
    const bad = 'a: 1\nb: }\nc: 2\n';
    expect(part(bad, read(bad).problems[0]!)).toBe('}');
  });
});
