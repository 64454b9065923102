import { describe, expect, test } from 'vitest';
import type { Scope } from '../../../schema/template/evaluate.ts';
import { good } from '../../../schema/template/problem.ts';
import { renderShell } from '../../../schema/template/render-shell.ts';
import { codesOf, parsed } from './rendered.ts';

const NOTHING: Scope = { params: {}, entity: {}, deps: [], outs: [], stages: {}, names: {} };

describe('param substitution', () => {
  const params = { whisper_model: 'moonshine-tiny', chunk_size: 512, title: 'Tom & "Jo"', on: true };

  test.each([
    ['transcribe --model {{params.whisper_model}}', 'transcribe --model moonshine-tiny'],
    ['chunk --size {{params.chunk_size}} --on={{params.on}}', 'chunk --size 512 --on=true'],
    ['tag {{params.title}} "{{params.title}}"', `tag 'Tom & "Jo"' "Tom & \\"Jo\\""`],
  ])('%s', (source, text) => {
    expect(renderShell(parsed(source), { ...NOTHING, params })).toEqual(good(text));
  });

  test('a param without a value is refused by name, never filled with nothing', () => {
    const outcome = renderShell(parsed('rm -rf {{params.whisper_modl}}/'), { ...NOTHING, params });
    expect(codesOf(outcome)).toEqual(['unknown-reference']);
    expect(outcome).toMatchObject({ problems: [{ hint: "did you mean 'whisper_model'?" }] });
  });

  test('deps and outs are filled by their index', () => {
    const source = 'embed --input {{deps[0].path}} --output {{outs[0].path}}';
    expect(renderShell(parsed(source), { ...NOTHING, deps: ['a b.json'], outs: ['e.bin'] })).toEqual(
      good(`embed --input 'a b.json' --output e.bin`),
    );
  });
});

describe('parallel input output variables', () => {
  const names = {
    input: "in/x/it's 1.mp4",
    output: "out/x/it's 1.wav",
    input_stem: "it's 1",
    input_dir: 'in/x',
  };

  test('each has the value of its own file, quoted as one word', () => {
    const source = 'ffmpeg -i {{input}} -f wav {{output}} && log "{{input_stem}}" {{input_dir}}';
    expect(renderShell(parsed(source), { ...NOTHING, names })).toEqual(
      good(`ffmpeg -i 'in/x/it'\\''s 1.mp4' -f wav 'out/x/it'\\''s 1.wav' && log "it's 1" in/x`),
    );
  });

  test('a chunk has a list of files and a file of names', () => {
    const scope = { ...NOTHING, names: { inputs: ['a 1', 'b'], input_list: '/w/list' } };
    expect(renderShell(parsed('many {{inputs}} --from {{input_list}}'), scope)).toEqual(
      good(`many 'a 1' b --from /w/list`),
    );
  });
});
