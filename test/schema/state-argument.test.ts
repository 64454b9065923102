import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameOf } from '../../cli/run/results.ts';
import { loadWorkflow } from '../../schema/load-workflow.ts';
import { readStateArgument } from '../../schema/state-argument.ts';
import type { EntityId } from '../../schema/words.ts';

function stagesOf(text: string) {
  const loaded = loadWorkflow(text, { name: 'p', root: '/p' });
  if (loaded.kind !== 'workflow') throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.workflow.stages;
}

const stage = (id: string, dep: string, out: string) =>
  `  "${id}": {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: ["${dep}"], outs: ["${out}"]}\n`;

const STAGES = stagesOf(
  `stages:\n${[
    stage('plain', 'in.txt', 'plain.txt'),
    stage('transcribe_{sample}', 'audio/{sample}.wav', 'text/{sample}.txt'),
    stage('transcribe_long_{sample}', 'long/{sample}.wav', 'longtext/{sample}.txt'),
    stage('unnamed', 'a/{x}.txt', 'b/{x}.txt'),
    stage('pair_{b}_{a}', 'c/{a}/{b}.txt', 'd/{a}/{b}.txt'),
    stage('left_{x}', 'e/{x}', 'f/{x}'),
    stage('{x}_left', 'g/{x}', 'h/{x}'),
  ].join('')}`,
);

const read = (written: string) => {
  const found = readStateArgument(written, STAGES);
  return 'stage' in found
    ? [found.kind, found.stage.id, ...('entity' in found ? [found.entity] : [])]
    : found;
};

describe('what a person writes for a state', () => {
  test.each([
    ['a stage', 'plain', ['stage', 'plain']],
    ['a stage by its pattern', 'transcribe_{sample}', ['stage', 'transcribe_{sample}']],
    ['a state as it is shown', 'transcribe_lecture-01', ['state', 'transcribe_{sample}', 'lecture-01']],
    ['STAGE@ENTITY', 'transcribe_{sample}@lecture-01', ['state', 'transcribe_{sample}', 'lecture-01']],
    ['STAGE@ENTITY where the name has no variable', 'unnamed@x', ['state', 'unnamed', 'x']],
    ['an entity with an @ in it', 'unnamed@a@b', ['state', 'unnamed', 'a@b']],
    ['an entity of several values', 'pair_{b}_{a}@1/2', ['state', 'pair_{b}_{a}', '1/2']],
    ['the name that says more', 'transcribe_long_x', ['state', 'transcribe_long_{sample}', 'x']],
    ['values in the order of the entity, not of the name', 'pair_2_1', ['state', 'pair_{b}_{a}', '1/2']],
    ['nothing after the @', 'plain@', ['stage', 'plain']],
  ])('%s', (_title, written, expected) => {
    expect(read(written)).toEqual(expected);
  });

  test('a name that two stages could have given is not guessed', () => {
    expect(read('left_left')).toEqual({
      kind: 'ambiguous',
      stages: ['left_{x}', '{x}_left'],
      hint: "write it as STAGE@ENTITY, for example 'left_{x}@left'",
    });
  });

  test.each([
    ['plian', "did you mean 'plain'?"],
    ['trnscribe_{sample}@a', "did you mean 'transcribe_{sample}'?"],
    ['pari_1', "did you mean 'pair_{b}_{a}'?"],
    ['something else', 'its stages: plain, transcribe_{sample}, transcribe_long_{sample}, unnamed,'],
    ['', 'its stages: plain,'],
  ])('a mistyped %j names the nearest', (written, hint) => {
    const found = readStateArgument(written, STAGES);
    expect(found).toMatchObject({ kind: 'unknown', hint: expect.stringContaining(hint) });
  });

  test('every state is found by the name it is shown under', () => {
    const one = STAGES.find(({ id }) => id === 'transcribe_{sample}')!;
    const value = fc.string({ minLength: 1 }).filter((text) => !/[/\0@]|^\.{1,2}$|^long_/.test(text));
    fc.assert(
      fc.property(value, (entity) => {
        fc.pre(/^[ -~]+$/.test(entity));
        expect(readStateArgument(nameOf(one, entity as EntityId), [one])).toEqual(
          entity === '{sample}' ? { kind: 'stage', stage: one } : { kind: 'state', stage: one, entity },
        );
      }),
    );
  });
});
