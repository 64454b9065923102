import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { good } from '../../../schema/template/problem.ts';
import { renderJson, renderText, renderValue } from '../../../schema/template/render.ts';
import { codesOf, parsed, SCOPE, withParams } from './rendered.ts';

describe('renderText', () => {
  test.each([
    ['{sample}/{{params.n}}-{{params.yes}}-{{params.none}}', 'lecture-01/7-true-null'],
    ['{{params.list}} {{params.nested}}', '[1,"b"] {"deep":[{"key":"found"}]}'],
    ['{{$.scores.content.title}}', 'He said "no"'],
    ['{{inputs}}', '["a","b c"]'],
    ["{{ '{{' }}", '{{'],
    ['', ''],
  ])('fills %s', (source, text) => {
    expect(renderText(parsed(source), SCOPE)).toEqual(good(text));
  });

  test('tells every problem at once, those of parsing first', () => {
    const outcome = renderText(parsed('{{params.a}} {{+}} {{params.b}} {{input}}'), SCOPE);
    expect(codesOf(outcome)).toEqual(['bad-expression', 'unknown-reference', 'unknown-reference']);
  });
});

describe('renderValue', () => {
  test.each([
    ['{{params.list}}', [1, 'b']],
    ['{{$.scores.content.score >= 8}}', true],
    ['{{deps[1].path}}', ['in/1.txt', 'in/2.txt']],
    ['{{input}}', 'in/a.wav'],
    ['{{params.n}} ', '7 '],
    ['plain', 'plain'],
    ['', ''],
  ])('gives %j as a typed value if it is one placeholder alone', (source, value) => {
    expect(renderValue(parsed(source), SCOPE)).toEqual(good(value));
  });

  test('tells what has no value', () => {
    expect(codesOf(renderValue(parsed('{{params.a}}'), SCOPE))).toEqual(['unknown-reference']);
  });
});

describe('renderJson', () => {
  test.each([
    ['{"title": "{{$.scores.content.title}}"}', '{"title": "He said \\"no\\""}'],
    ['{"title": {{$.scores.content.title}}, "n": {{params.n}}}', '{"title": "He said \\"no\\"", "n": 7}'],
    ['{"list": {{params.list}}, "text": "{{params.list}}"}', '{"list": [1,"b"], "text": "[1,\\"b\\"]"}'],
    ['{"\\"": "\\\\{{params.v}}"}', '{"\\"": "\\\\x"}'],
    ['{ {{ "\\"a\\": 1" | raw }} }', '{ "a": 1 }'],
  ])('fills %s', (source, text) => {
    expect(renderJson(parsed(source), SCOPE)).toEqual(good(text));
  });

  test('reports after-backslash, where a value could not be escaped', () => {
    const source = '{"a": "\\{{params.v}}"}';
    expect(codesOf(renderJson(parsed(source), SCOPE))).toEqual(['after-backslash']);
  });

  test('tells what has no value', () => {
    expect(codesOf(renderJson(parsed('{"a": {{params.a}}}'), SCOPE))).toEqual(['unknown-reference']);
  });

  test('carries any value through JSON unchanged, inside a string and outside', () => {
    const template = parsed('{"in": "<{{params.v}}>", "out": {{params.v}}}', []);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (v) => {
        const outcome = renderJson(template, withParams({ v }));
        expect(outcome.ok && JSON.parse(outcome.value)).toEqual({ in: `<${v}>`, out: v });
      }),
    );
  });
});
