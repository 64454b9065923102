import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { columnsOf } from '../../cli/draw/text-columns.ts';
import { drawTree, type TreeOptions } from '../../cli/draw/tree.ts';
import {
  type Arrow,
  chain,
  corpus,
  diamond,
  fan,
  hostile,
  type Sample,
  sample,
  talks,
} from './draw-samples.ts';

const PLAIN: TreeOptions = { color: false, width: 80 };

function linesOf({ workflow, dag }: Sample, options: Partial<TreeOptions> = {}): string[] {
  return drawTree(workflow, dag, { ...PLAIN, ...options }).split('\n');
}

describe('the tree', () => {
  it('shows every stage below what it needs, with its kind, entities, target and inputs', () => {
    expect(linesOf(talks())).toEqual([
      'talks  6 stages',
      '',
      '○ audio               source',
      '● transcribe_{talk}   per {talk} · on intel',
      '├─● summarize_{talk}  per {talk}',
      '├─● index',
      '● publish             frozen                 ← summarize_{talk}, index',
      '● notify              action                 after publish',
      '',
    ]);
  });

  it('sets a join below the stage that its branches share', () => {
    expect(linesOf(diamond()).slice(2)).toEqual([
      '○ load',
      '├─● left',
      '├─● right',
      '● join     ← left, right',
      '',
    ]);
  });

  it('keeps a chain, and a chain with side stages, in one column', () => {
    expect(linesOf(chain(300)).every((line) => !/[├╰│]/.test(line))).toBe(true);
    const steps = Array.from({ length: 50 }, (_, i) => i);
    const comb = sample({
      names: steps.flatMap((i) => [`step-${i}`, `check-${i}`]),
      arrows: steps.flatMap((i): Arrow[] => [
        ...(i === 0 ? [] : [[`step-${i - 1}`, `step-${i}`] as const]),
        [`step-${i}`, `check-${i}`],
      ]),
    });
    expect(Math.max(...linesOf(comb).map((line) => line.search(/[○●]/)))).toBe(2);
  });

  it('counts the inputs that do not fit', () => {
    expect(linesOf(fan(50)).at(-2)).toMatch(/^● report {5}← part-1, part-2, .*, \+\d+$/);
    expect(linesOf(fan(50), { width: Number.POSITIVE_INFINITY }).at(-2)).toMatch(/part-49, part-50$/);
  });

  it.each([60, 80, 200])('fits into %d columns', (width) => {
    const long = sample({ names: ['a'.repeat(300), 'b'], arrows: [['a'.repeat(300), 'b', null]] });
    for (const given of [talks(), diamond(), fan(50), corpus(), long, hostile()]) {
      for (const line of linesOf(given, { width })) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    }
  });

  it('is one line per stage without control characters, whatever the names are', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, (given) => {
        const lines = linesOf(hostile(given));
        expect(lines).toHaveLength(given.length + 3);
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });

  it('draws every stage once, after all its inputs', () => {
    const pairs = fc.array(fc.tuple(fc.nat(14), fc.nat(14)), { maxLength: 30 });
    const names = Array.from({ length: 15 }, (_, i) => `n${i}`);
    fc.assert(
      fc.property(pairs, (given) => {
        const keys = new Set(given.filter(([a, b]) => a < b).map(([a, b]) => `n${a} n${b}`));
        const arrows = [...keys].map((key) => key.split(' ') as [string, string]);
        const drawn = linesOf(sample({ names, arrows }))
          .slice(2, -1)
          .map((line) => /n\d+/.exec(line)![0]);
        expect([...drawn].sort()).toEqual([...names].sort());
        for (const [from, to] of arrows) expect(drawn.indexOf(from)).toBeLessThan(drawn.indexOf(to));
      }),
    );
  });

  it('has colours only where they are wanted, and the same text with them', () => {
    const colored = linesOf(talks(), { color: true }).join('\n');
    expect(colored).toContain('\x1b[32m○ audio');
    // biome-ignore lint/complexity/useRegexLiterals: the escape would be a control character in a literal
    expect(colored.replace(new RegExp('\\x1b\\[\\d+m', 'g'), '')).toBe(linesOf(talks()).join('\n'));
  });

  test('is the same bytes every time', () => {
    for (const make of [talks, corpus, hostile]) expect(linesOf(make())).toEqual(linesOf(make()));
  });
});
