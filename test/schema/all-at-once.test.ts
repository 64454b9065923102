// One look at a file tells everything that is wrong with it: no mistake hides another one behind it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadWorkflow } from '../../schema/load-workflow.ts';

function toldOf(text: string): string[] {
  const { kind, diagnostics } = loadWorkflow(text, { name: 'p', root: '/project' });
  expect(kind).toBe('invalid');
  const lines = diagnostics.map(({ span }) => text.slice(0, span.start).split('\n').length);
  return diagnostics.map(({ code }, i) => `${lines[i]} ${code}`);
}

describe('mistakes of every kind are told together, in the order of the file', () => {
  test('an unknown key, an unknown name, an unknown stage and two writers', () => {
    expect(
      toldOf(`params: {speed: 1}
stages:
  a: {cmd: x, nope: 1}
  b: {cmd: "y {{params.sped}}", after: [zz]}
  c: {cmd: z, outs: [o]}
  d: {cmd: z, outs: [o], retry: {limit: -1}}
  e: {cmd: z, outs: [o]}
`),
    ).toEqual([
      '3 unknown-key',
      '4 unknown-param',
      '4 unknown-stage',
      '6 two-writers',
      '6 bad-value',
      '7 two-writers',
    ]);
  });

  test('a key that stands twice', () => {
    expect(toldOf('stages:\n  a: {cmd: x}\n  a: {cmd: y}\n  b: {cmd: z, after: [zz], nope: 1}\n')).toEqual([
      '3 duplicate-key',
      '4 unknown-stage',
      '4 unknown-key',
    ]);
    expect(toldOf('stages:\n  a: {cmd: x}\n  b: {cmd: z, after: [zz]}\n  a: {cmd: y}\n')).toEqual([
      '3 unknown-stage',
      '4 duplicate-key',
    ]);
  });

  test('a mistake outside the stages', () => {
    expect(toldOf('nmae: n\npolicy: {failure: never}\nstages:\n  b: {cmd: z, after: [zz]}\n')).toEqual([
      '1 unknown-key',
      '2 bad-value',
      '4 unknown-stage',
    ]);
  });

  test('several mistakes of one stage', () => {
    expect(
      toldOf(`stages:
  a: {cmd: "x {{params.y}}", deps: ["../{x}"], target: moon, retry: {limit: many}, after: [5, zz]}
`),
    ).toEqual(['2 unknown-param', '2 pattern-climbs', '2 unknown-target', '2 wrong-type', '2 wrong-type']);
  });

  test('a stage that is no map', () => {
    expect(toldOf('stages:\n  a: 5\n  b: {cmd: z, after: [a, zz]}\n')).toEqual([
      '2 wrong-type',
      '3 unknown-stage',
    ]);
  });

  test('a pipeline', () => {
    expect(
      toldOf(`mode: pipeline
stateRoot: s
stages:
  - {id: a, type: source, pattern: "{x}.md", nope: 1}
  - {id: b, type: transform, input: a, pattern: "{x}.txt", node: {typeId: set}, after: [zz]}
`),
    ).toEqual(['4 unknown-key', '5 unknown-stage']);
  });

  test('an unknown input and an unknown after, each at its own place', () => {
    expect(
      toldOf(`mode: pipeline
stateRoot: s
stages:
  - id: b
    type: transform
    input: nope
    pattern: b.txt
    node: {typeId: set}
    after: [zz]
`),
    ).toEqual(['6 unknown-stage', '9 unknown-stage']);
  });

  test('a job', () => {
    expect(
      toldOf(`schedule: never
tasks:
  a: {args: [x]}
  b: {program: x, depends_on: [a, zz]}
  c: {program: x, nope: 1}
`),
    ).toEqual(['1 bad-schedule', '3 missing-key', '4 unknown-stage', '5 unknown-key']);
  });
});

describe('a mistake is told once, and nothing that only follows from it', () => {
  test.each([
    ['a misspelt outs', 'stages:\n  a: {cmd: "x > {{outs[0].path}}", out: [o]}\n', '2 unknown-key'],
    ['outs of the wrong type', 'stages:\n  a: {cmd: "x > {{outs[0].path}}", outs: o}\n', '2 wrong-type'],
    [
      'a misspelt outs that another stage refers to',
      'stages:\n  a: {cmd: x, out: [o]}\n  b: {cmd: "y {{$.a.path}}", outs: [p]}\n',
      '2 unknown-key',
    ],
    ['a command that is no text', 'stages:\n  a: {cmd: [x], outs: [o]}\n', '2 wrong-type'],
    [
      'misspelt params',
      'parms: {x: 1}\nstages:\n  a: {cmd: "x {{params.x}}", params: [x]}\n',
      '1 unknown-key',
    ],
    ['targets of the wrong type', 'targets: [moon]\nstages:\n  a: {cmd: x, target: moon}\n', '1 wrong-type'],
    ['a misspelt config', 'confg: {x: 1}\ntasks:\n  a: {program: "${config.x}"}\n', '1 unknown-key'],
    [
      'an input that names no stage',
      'mode: pipeline\nstateRoot: s\nstages:\n  - {id: a, type: transform, input: nope, pattern: "{x}.t", node: {typeId: set}}\n',
      '4 unknown-stage',
    ],
    [
      'a source without a pattern',
      'mode: pipeline\nstateRoot: s\nstages:\n  - {id: a, type: source}\n  - {id: b, type: transform, input: a, pattern: "{x}.t", node: {typeId: set}}\n',
      '4 missing-key',
    ],
  ])('%s', (_, text, told) => {
    expect(toldOf(text)).toEqual([told]);
  });
});

test('settings with a mistake are invalid', () => {
  expect(toldOf('executor: {max_concurrency: 0}\n')).toEqual(['1 bad-value']);
  expect(toldOf('executor: {}\nexecutor: {}\n')).toEqual(['2 duplicate-key']);
});

const PIPELINE = {
  mode: 'pipeline',
  stateRoot: 's',
  stages: [
    { id: 'a', type: 'source', pattern: '{x}.md' },
    { id: 'b', type: 'transform', input: 'a', pattern: '{x}.t', node: { typeId: 'set', data: {} } },
  ],
};
const PLAYBOOK = {
  params: { x: 1 },
  targets: { moon: { host: 'm' } },
  stages: {
    a: { cmd: 'x {{params.x}}', outs: ['o'], target: 'moon' },
    b: { cmd: 'y', deps: ['o'], after: ['a'] },
  },
  compliance: { pre_flight: [{ tdg: { path: 'src', min_grade: 'B' } }] },
};
const JOB = {
  config: { x: 1 },
  tasks: { a: { program: '${config.x}' }, b: { program: 'y', depends_on: ['a'] } },
};

test('whatever stands in place of any part of a file, it is told and never thrown', () => {
  const places = [PIPELINE, PLAYBOOK, JOB].flatMap((file) => pathsOf(file).map((path) => ({ file, path })));
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom('a', 'cmd', 'outs', 'id'), fc.jsonValue()),
  );
  fc.assert(
    fc.property(fc.constantFrom(...places), anything, ({ file, path }, value) => {
      const text = JSON.stringify(put(file, path, value));
      const { kind, diagnostics } = loadWorkflow(text, { name: 'p', root: null });
      expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(kind === 'invalid');
    }),
    { numRuns: 500 },
  );
});

function pathsOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner).map((path) => [key, ...path])),
  ];
}

function put(value: unknown, [step, ...rest]: readonly string[], replacement: unknown): unknown {
  if (step === undefined) return replacement;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[step] = put(copy[step], rest, replacement);
  return copy;
}
