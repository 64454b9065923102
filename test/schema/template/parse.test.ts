import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../schema/template/parse.ts';
import { parsed, pointedAt } from './rendered.ts';

function placeholders(source: string, dialect: 'braces' | 'job' = 'braces') {
  const { parts } = parseTemplate(source, { variables: ['sample', 'feed'], dialect });
  return parts.flatMap((part) => (part.kind === 'placeholder' ? [part.source] : []));
}

describe('parseTemplate', () => {
  test.each([
    ['cp {{input}} {{ output }}', ['{{input}}', '{{ output }}']],
    ['{{deps[0].path}}{{params["a b"]}}', ['{{deps[0].path}}', '{{params["a b"]}}']],
    ['{{$.scores.content.score >= 8}}', ['{{$.scores.content.score >= 8}}']],
    ["echo {{ '}}' }} {{params.x|raw}}", ["{{ '}}' }}", '{{params.x|raw}}']],
    ['mv {sample}.wav {feed}/{sample}', ['{sample}', '{feed}', '{sample}']],
  ])('finds the placeholders of %s', (source, found) => {
    expect(placeholders(source)).toEqual(found);
  });

  test.each([
    'cp a.{wav,mp3} {1..5} {sample,feed}',
    'echo ${sample} "${sample}" ${sample:-x} ${#sample}',
    "awk '{print $1} {sum += $2}' {} {other} { sample }",
    'find . -exec cp {} out \\;',
    '${config.data_path}',
    '} }} { $',
    '',
  ])('leaves %j alone', (source) => {
    expect(parsed(source)).toMatchObject({ errors: [] });
    expect(placeholders(source)).toEqual([]);
  });

  test('takes {sample} only where sample is a variable of the stage', () => {
    expect(parsed('{sample}', ['sample']).parts).toMatchObject([{ kind: 'placeholder' }]);
    expect(parsed('{sample}', ['samples']).parts).toMatchObject([{ kind: 'text' }]);
  });

  test('knows ${config.x} in a job, and only there', () => {
    expect(placeholders('${config.data_path}/raw ${HOME}', 'job')).toEqual(['${config.data_path}']);
    expect(placeholders('${config.a.b[0]}', 'job')).toEqual(['${config.a.b[0]}']);
  });

  test('marks a raw placeholder', () => {
    const raws = parsed('{{input | raw}} {{input}}').parts.flatMap((p) => (p.kind === 'text' ? [] : [p.raw]));
    expect(raws).toEqual([true, false]);
  });

  test.each([
    ['bad-expression', 'a {{}} b', /^\{\{\}\}$/],
    ['bad-expression', 'docker inspect -f {{.State}}', '.State'],
    ['bad-expression', '{{ params.x + 1 }}', '+ 1'],
    ['bad-expression', '{{ upper(params.x) }}', '(params.x)'],
    ['bad-expression', '{{ 1 < 2 < 3 }}', '3 '],
    ['bad-expression', '{{ (params.x }}', '{{ (params.x }}'],
    ['bad-expression', `{{ ${'!'.repeat(300)}true }}`, /^!+true $/],
    ['unclosed-placeholder', 'echo {{input', '{{'],
    ['bad-expression', "echo {{ 'a }} b", "'a "],
    ['unknown-filter', '{{ input | upper }}', ' | upper '],
  ])('reports %s in %j', (code, source, at) => {
    const [problem, ...others] = parsed(source).errors;
    expect(problem?.code).toBe(code);
    expect(problem?.hint).not.toBe('');
    expect(pointedAt(source, problem)).toMatch(at);
    expect(others).toEqual([]);
  });

  test.each([
    ['bad-expression', '${config.a-+b}', '${config.a-+b}'],
    ['unclosed-placeholder', '${config.a', '${'],
  ])('reports %s in the job text %j', (code, source, at) => {
    const [problem] = parseTemplate(source, { variables: [], dialect: 'job' }).errors;
    expect(problem?.code).toBe(code);
    expect(pointedAt(source, problem)).toBe(at);
  });

  test('goes on after a mistake and tells every one of them', () => {
    const { errors, parts } = parsed('{{+}} {{input}} {{input | nope}}');
    expect(errors.map(({ code }) => code)).toEqual(['bad-expression', 'unknown-filter']);
    expect(parts.filter(({ kind }) => kind === 'placeholder')).toHaveLength(1);
  });

  test('loses no character of a template it accepts, whatever it holds', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{',
      '}',
      '$',
      'sample',
      'params.v',
      "'",
      '"',
      '|',
      ' ',
      '[0]',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const { source, parts, errors } = parsed(pieces.join(''));
        fc.pre(errors.length === 0);
        expect(parts.map(({ start, end }) => source.slice(start, end)).join('')).toBe(source);
      }),
    );
  });

  test('reads a hostile text in linear time', () => {
    const start = performance.now();
    for (const piece of ['{{', '{{(', '{{!', '{{a.', "{{'", '{{a==', '${config.']) {
      parseTemplate(piece.repeat(50_000), { variables: ['a'], dialect: 'job' });
    }
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
