import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareValues } from '../../../schema/template/compare.ts';
import { evaluate, plain } from '../../../schema/template/evaluate.ts';
import { parseExpression } from '../../../schema/template/expression.ts';
import { good } from '../../../schema/template/problem.ts';
import type { Json } from '../../../schema/words.ts';
import { codesOf, SCOPE, withParams } from './rendered.ts';

function evaluated(text: string, scope = SCOPE) {
  const { expression, problem } = parseExpression(text, 0);
  expect(problem).toBeNull();
  return evaluate(expression, scope);
}

function valueIn(text: string): Json {
  const outcome = evaluated(text);
  if (!outcome.ok) throw new Error(outcome.problems[0]?.message);
  return plain(outcome.value);
}

describe('evaluate', () => {
  test.each<[string, Json]>([
    ['params.v', 'x'],
    ['params["v"]', 'x'],
    ['params.list[1]', 'b'],
    ['params.nested.deep[0].key', 'found'],
    ['params.none', null],
    ['config.v', 'x'],
    ['entity.sample', 'lecture-01'],
    ['deps[0].path', 'in/a.wav'],
    ['deps[1].path', ['in/1.txt', 'in/2.txt']],
    ['outs[0].path', 'out/a.json'],
    ['input_stem', 'a'],
    ['$.scores.path', 'scores/1.json'],
    ['$.scores.content.title', 'He said "no"'],
    ['"a\\n\\"b\\""', 'a\n"b"'],
    ['-1.5e2', -150],
  ])('gives %s its value', (text, value) => {
    expect(valueIn(text)).toEqual(value);
  });

  test.each<[string, boolean]>([
    ['$.scores.content.score >= 8', true],
    ['$.scores.content.score > 8', false],
    ['params.n == 7 && params.v != "y"', true],
    ['params.n < 7 || params.n <= 7', true],
    ['!(params.n == 7)', false],
    ['!params.yes == false', true],
    ['true || params.missing', true],
    ['false && params.missing', false],
    ['false && true || true', true],
    ['params.list == params.list', true],
    ['params.none == null', true],
    ['"10" < "9"', true],
    ['"10" < 9', false],
    ['"7" == params.n', true],
    ['"07" == params.n', false],
  ])('answers %s with %s', (text, answer) => {
    expect(valueIn(text)).toBe(answer);
  });

  test.each([
    ['unknown-reference', 'params.missing'],
    ['unknown-reference', 'params.constructor'],
    ['unknown-reference', 'params.list.length'],
    ['unknown-reference', 'params.v.length'],
    ['unknown-reference', 'deps[9].path'],
    ['unknown-reference', 'deps[0]'],
    ['unknown-reference', '$.nobody.path'],
    ['unknown-reference', '$.bare.path'],
    ['unknown-reference', '$.bare.content'],
    ['unknown-reference', 'toString'],
    ['unknown-reference', 'input.path'],
    ['not-a-boolean', '!params.v'],
    ['not-a-boolean', 'params.yes && params.n'],
    ['not-comparable', 'params.list < 3'],
    ['not-comparable', '"a" < 3'],
    ['not-comparable', 'null <= null'],
  ])('reports %s for %s', (code, text) => {
    expect(codesOf(evaluated(text))).toEqual([code]);
  });

  test('names what is missing and the nearest thing that exists', () => {
    const outcome = evaluated('params.nested.dep');
    expect(outcome).toMatchObject({
      problems: [{ message: expect.stringContaining("no 'dep'"), hint: "did you mean 'deep'?" }],
    });
  });

  test('reports too-deep for data that would exhaust the stack', () => {
    let value: Json = 1;
    for (let i = 0; i < 100_000; i++) value = [value];
    expect(codesOf(evaluated('params.v == params.v', withParams({ v: value })))).toEqual(['too-deep']);
  });

  test('keeps paths apart from texts', () => {
    expect(evaluated('input')).toEqual(good({ kind: 'path', path: 'in/a.wav' }));
    expect(evaluated('deps[1].path')).toEqual(good({ kind: 'paths', paths: ['in/1.txt', 'in/2.txt'] }));
    expect(evaluated('params.v')).toEqual(good({ kind: 'json', json: 'x' }));
  });
});

describe('compareValues', () => {
  const holds = (operator: '==' | '<' | '>', a: Json, b: Json) => {
    const answer = compareValues(operator, a, b);
    return answer.ok && answer.value;
  };

  test('orders any two texts exactly one way, by code point', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(['==', '<', '>'].filter((each) => holds(each as '==', a, b))).toHaveLength(1);
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(holds('<', a, b)).toBe(bytes < 0);
      }),
    );
  });

  test('finds every value equal to its copy and unequal to its wrapping', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(holds('==', json, structuredClone(json) as Json)).toBe(true);
        expect(holds('==', json, [json])).toBe(false);
      }),
    );
  });
});
