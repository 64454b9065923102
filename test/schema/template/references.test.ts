import { describe, expect, test } from 'vitest';
import {
  checkReferences,
  type Known,
  referencedParams,
  referencedStages,
  references,
} from '../../../schema/template/references.ts';
import { parsed, pointedAt } from './rendered.ts';

const KNOWN: Known = {
  params: ['model', 'size'],
  deps: 1,
  outs: 0,
  entity: ['sample'],
  stages: ['scores'],
  config: false,
  names: ['input', 'root'],
};

describe('references', () => {
  test('lists every path in the order written, also inside comparisons', () => {
    const template = parsed('{{ !(params.a == 1) && $.s.path != input }} {sample} {{ "params.b" }}');
    expect(references(template).map(({ source }) => source)).toEqual([
      'params.a',
      '$.s.path',
      'input',
      '{sample}',
    ]);
  });

  test('lists each param once, by its first key', () => {
    const template = parsed('{{params.a.b}} {{params["c d"]}} {{config.e}} {{params.a}} {{entity.f}}');
    expect(referencedParams(template)).toEqual(['a', 'c d', 'e']);
  });

  test('lists the stages a template reads from', () => {
    const found = referencedStages(parsed('{{$.a.path}} {{$.b.content.x[0]}} {{$.c.other}} {{$}}'));
    expect(found.map(({ stage, field }) => [stage, field])).toEqual([
      ['a', 'path'],
      ['b', 'content'],
    ]);
  });
});

describe('checkReferences', () => {
  test('accepts every name that exists', () => {
    const source =
      '{{params.model}} {{params.size[0].x}} {{deps[0].path}} {sample} {{entity.sample}} {{$.scores.content}} {{$.scores.path}} {{input}} {{root}}';
    expect(checkReferences(parsed(source), KNOWN)).toEqual([]);
  });

  test.each([
    ['unknown-param', '{{params.modl}}', "did you mean 'model'?"],
    ['unknown-variable', '{{entity.smaple}}', "did you mean 'sample'?"],
    ['unknown-dep', '{{deps[1].path}}', 'the last one is deps[0].path'],
    ['unknown-out', '{{outs[0].path}}', "list it under 'outs' first"],
    ['unknown-stage', '{{$.score.path}}', "did you mean 'scores'?"],
    ['unknown-name', '{{inpt}}', "did you mean 'input'?"],
    ['unknown-name', '{{output}}', 'known: input, root, params, deps, outs, entity, $'],
    ['unknown-name', '{{sample}}', "did you mean '{sample}' or 'entity.sample'?"],
    ['unknown-name', '{{size}}', "did you mean 'params.size'?"],
    ['unknown-name', '{{config.model}}', 'known: input, root, params, deps, outs, entity, $'],
    ['bad-reference', '{{params}}', 'write it as params.NAME'],
    ['bad-reference', '{{entity.sample.x}}', 'write it as entity.NAME'],
    ['bad-reference', '{{deps[0]}}', 'write it as deps[0].path'],
    ['bad-reference', '{{$.scores.size}}', 'write it as $.scores.path or $.scores.content.FIELD'],
    ['bad-reference', '{{$[0]}}', 'write it as $.STAGE.path'],
    ['bad-reference', '{{input.path}}', 'write it as input'],
  ])('reports %s for %s', (code, source, hint) => {
    const [problem, ...others] = checkReferences(parsed(`run ${source} now`), KNOWN);
    expect(problem).toMatchObject({ code, hint });
    expect(`{{${pointedAt(`run ${source} now`, problem)}}}`).toBe(source);
    expect(others).toEqual([]);
  });

  test('reports unknown-config-key where config is known', () => {
    const problems = checkReferences(parsed('{{config.modl}} {{config.model}}'), { ...KNOWN, config: true });
    expect(problems).toMatchObject([{ code: 'unknown-config-key', hint: "did you mean 'model'?" }]);
  });
});
