import { describe, expect, test } from 'vitest';
import { bindEntities } from '../../schema/entities.ts';
import { parsePattern } from '../../schema/pattern.ts';

const variables = (path: string) => {
  const parsed = parsePattern(path);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.pattern.variables;
};
const bind = (deps: readonly string[], outs: readonly string[]) =>
  bindEntities(deps.map(variables), outs.map(variables));

describe('bindEntities', () => {
  test.each<[string, string[], string[], object]>([
    [
      'no variables: one entity',
      ['a', 'b'],
      ['c'],
      { variables: [], driver: null, deps: ['shared', 'shared'] },
    ],
    ['one to one', ['in/{s}.fq'], ['out/{s}.bam'], { variables: ['s'], driver: 0, deps: ['one'] }],
    [
      'shared beside one to one',
      ['ref.fa', 'in/{s}.fq'],
      ['out/{s}.bam'],
      { variables: ['s'], driver: 1, deps: ['shared', 'one'] },
    ],
    [
      'fewer variables are shared',
      ['{f}.yaml', '{f}/{g}'],
      ['out/{f}/{g}'],
      { variables: ['f', 'g'], driver: 1, deps: ['shared', 'one'] },
    ],
    [
      'more variables are collected',
      ['feeds/{feed}/{guid}.json'],
      ['digests/{feed}.md'],
      { variables: ['feed'], driver: 0, deps: ['collected'] },
    ],
    [
      'wildcard downstream collects all expanded',
      ['out/{s}.bam'],
      ['all.vcf'],
      { variables: [], driver: null, deps: ['collected'] },
    ],
    [
      'the first dep that can drives, even by collecting',
      ['{f}/{g}', '{f}.yaml'],
      ['{f}.md'],
      { variables: ['f'], driver: 0, deps: ['collected', 'one'] },
    ],
    [
      'ids follow the order of the driver',
      ['{b}/{a}'],
      ['{a}-{b}'],
      { variables: ['b', 'a'], driver: 0, deps: ['one'] },
    ],
    [
      'an action has the variables of its deps',
      ['cfg', 'in/{s}'],
      [],
      { variables: ['s'], driver: 1, deps: ['shared', 'one'] },
    ],
    [
      'a dep with other variables is collected over them',
      ['{a}', '{a}/{b}', '{c}'],
      ['out/{a}'],
      { variables: ['a'], driver: 0, deps: ['one', 'collected', 'collected'] },
    ],
    [
      'every out has the same variables in any order',
      ['{a}/{b}'],
      ['{a}-{b}', '{b}-{a}'],
      { variables: ['a', 'b'], driver: 0, deps: ['one'] },
    ],
    ['nothing before an out without variables', [], ['out'], { variables: [], driver: null, deps: [] }],
  ])('wildcard expansion: %s', (_, deps, outs, binding) => {
    expect(bind(deps, outs)).toEqual({ ok: true, binding });
  });

  test.each<[string, string[], string[], string, RegExp, RegExp, object]>([
    [
      'a variable no dep has',
      ['in.txt'],
      ['out/{s}'],
      'unbound-variable',
      /\{s\}/,
      /data\/\{s\}\.txt/,
      { list: 'outs', index: 0 },
    ],
    [
      'one of two that no dep has',
      ['in/{a}'],
      ['{a}/{s}'],
      'unbound-variable',
      /values \{s\}/,
      /use \{s\}.*data\/\{a\}\/\{s\}\.txt/,
      { list: 'outs', index: 0 },
    ],
    [
      'a product of two deps',
      ['{a}.x', '{b}.y'],
      ['{a}-{b}'],
      'entity-product',
      /\{a\}, \{b\}/,
      /one dep/,
      { list: 'outs', index: 0 },
    ],
    [
      'an out that lacks a variable',
      ['{a}'],
      ['x/{a}', 'log'],
      'uneven-outs',
      /lacks \{a\}/,
      /same variables/,
      { list: 'outs', index: 1 },
    ],
    [
      'an out that has one more',
      ['{a}/{b}'],
      ['x/{a}', 'y/{a}/{b}'],
      'uneven-outs',
      /has \{b\}/,
      /same variables/,
      { list: 'outs', index: 1 },
    ],
  ])('refuses %s by name', (_, deps, outs, code, message, hint, at) => {
    expect(bind(deps, outs)).toEqual({
      ok: false,
      code,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
      at,
    });
  });
});
