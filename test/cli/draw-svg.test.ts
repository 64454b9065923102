import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { CliError } from '../../cli/command.ts';
import { arrange } from '../../cli/draw/svg/arrange.ts';
import type { Box, Picture } from '../../cli/draw/svg/place.ts';
import { drawSvg } from '../../cli/draw/svg.ts';
import { chain, corpus, diamond, fan, hostile, type Sample, sample, talks } from './draw-samples.ts';

const BOX = { width: 100, height: 28 };

function svgOf({ workflow, dag }: Sample): string {
  return drawSvg(workflow, dag);
}

/** Throws at the first character that no XML parser would take, or that is not one of our own elements. */
function expectWellFormed(svg: string): void {
  const token =
    /<(\/?)(svg|title|style|defs|marker|path|rect|text|tspan|g)((?: [\w-]+="[^"<&]*")*)(\/?)>|&(?:amp|lt|gt|quot|#39);|[^<&]/uy;
  const open: string[] = [];
  for (let at = 0; at < svg.length; at = token.lastIndex) {
    const match = token.exec(svg);
    if (match === null) throw new Error(`not well-formed: ${svg.slice(at, at + 60)}`);
    const [, closing, name, , empty] = match;
    if (name === undefined || empty === '/') continue;
    if (closing !== '/') open.push(name);
    else if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
  }
  expect(open).toEqual([]);
  expect(svg.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\ufffe\uffff]/u);
}

const graphs = fc.array(fc.tuple(fc.nat(24), fc.nat(24)), { maxLength: 50 }).map((pairs) => {
  const names = Array.from({ length: 25 }, (_, i) => `n${i}`);
  const keys = new Set(pairs.filter(([a, b]) => a < b).map(([a, b]) => `${a} ${b}`));
  const arrows = [...keys].map((key) => key.split(' ').map((n) => names[Number(n)]!) as [string, string]);
  return sample({ names, arrows });
});

describe('an SVG', () => {
  it.each([
    ['six stages', talks()],
    ['300 stages', corpus()],
    ['one stage', chain(1)],
    ['no stage', sample({ names: [] })],
    ['hostile names', hostile()],
  ])('of %s is one well-formed, self-contained document', (_title, given) => {
    const svg = svgOf(given);
    expectWellFormed(svg);
    expect(svg).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="\d+" height="\d+" viewBox="0 0 \d+ \d+"/,
    );
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|href|@import|<script|<image/);
  });

  test('stays well-formed whatever stages, paths and the workflow are called', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 4 });
    fc.assert(fc.property(names, (given) => expectWellFormed(svgOf(hostile(given)))));
  });

  test('shows hostile names as text', () => {
    const svg = svgOf(hostile());
    expect(svg).toContain('&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(svg).toContain('a &amp; b ]]&gt; &quot;c&quot;');
    expect(svg).toContain('line\\nbreak');
  });

  test('is the same bytes every time', () => {
    for (const make of [talks, corpus, hostile]) expect(svgOf(make())).toBe(svgOf(make()));
  });

  test('has colours for light and for dark surroundings', () => {
    const svg = svgOf(talks());
    const [light, dark] = svg.split('@media (prefers-color-scheme:dark)') as [string, string];
    for (const name of ['paper', 'name', 'line', 'source', 'transform', 'action', 'gate']) {
      expect(light).toContain(`.${name}`);
      expect(dark).toContain(`.${name}`);
    }
  });

  test('explains only the looks that occur, and none if all stages look the same', () => {
    const keysOf = (svg: string) =>
      [...svg.matchAll(/class="key" x="32" y="4">([^<]+)</g)].map(([, key]) => key);
    expect(keysOf(svgOf(talks()))).toEqual(['source', 'transform', 'action', 'after, no data']);
    expect(keysOf(svgOf(diamond()))).toEqual([]);
  });

  test('cuts a very long name in its box and tells it whole in its title', () => {
    const name = `begin-${'x'.repeat(200)}-end`;
    const svg = svgOf(sample({ names: [name] }));
    expect(svg).toContain(`<title>${name}</title>`);
    expect(svg).toMatch(/>begin-x+…x+-end</);
    expect(Number(/width="(\d+)"/.exec(svg)?.[1])).toBeLessThan(400);
  });
});

describe('the arrangement', () => {
  test('keeps boxes apart and lines clear of boxes they do not belong to', () => {
    fc.assert(
      fc.property(graphs, ({ dag }) => expectClear(arrange(dag, BOX))),
      { numRuns: 60 },
    );
  });

  test('fits six stages and 36 lines of eight on a screen’s width', () => {
    expect(arrange(talks().dag, BOX).width).toBeLessThan(1_480);
    expect(arrange(corpus().dag, BOX).width).toBeLessThan(1_600);
    expectClear(arrange(corpus().dag, BOX));
  });

  test('flows to the right, and down where that would be too wide', () => {
    expect(arrange(chain(6).dag, BOX).flow).toBe('right');
    const long = arrange(chain(40).dag, BOX);
    expect([long.flow, long.width]).toEqual(['down', BOX.width]);
    expectClear(long);
  });

  test('puts what comes first in the file on top', () => {
    const { boxes } = arrange(corpus().dag, BOX);
    const merges = boxes.filter(({ knot }) => knot.stages[0]!.startsWith('merge-'));
    const heights = merges.map(({ y }) => y);
    expect(heights).toHaveLength(11);
    expect(heights.at(0)).toBeLessThan(heights.at(-1)!);
  });

  test('frames many stages that have the same neighbours, with one line in and one out', () => {
    const { boxes, routes } = arrange(fan(298).dag, BOX);
    expect(boxes.map(({ knot }) => knot.stages.length)).toEqual([1, 298, 1]);
    expect(routes.map(({ tie }) => tie.edges.length)).toEqual([298, 298]);
  });

  test('frames many stages that have nothing to do with each other', () => {
    const names = Array.from({ length: 40 }, (_, i) => `task-${i}`);
    expect(arrange(sample({ names }).dag, BOX).boxes).toHaveLength(1);
  });

  test.each([
    ['deep', chain(1_500)],
    ['entangled', entangled(150)],
  ])('refuses what is too %s to be laid out, and names the formats that can', (_title, { dag }) => {
    expect(() => arrange(dag, BOX)).toThrow(CliError);
    expect(() => arrange(dag, BOX)).toThrow(/too many, or too deep/);
  });
});

/** A chain whose every stage also needs all the stages before it. */
function entangled(length: number): Sample {
  const names = Array.from({ length }, (_, i) => `n${i}`);
  return sample({
    names,
    arrows: names.flatMap((to, i) => names.slice(0, i).map((from) => [from, to] as const)),
  });
}

function expectClear({ boxes, routes, flow }: Picture): void {
  for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1)) expect(overlap(a, b)).toBe(false);
  for (const { tie, runs } of routes) {
    const others = boxes.filter((_, i) => i !== tie.from && i !== tie.to);
    for (const [start, end] of runs) {
      const strip = { ...start, width: end.x - start.x, height: end.y - start.y };
      expect(others.some((box) => overlap(box, strip))).toBe(false);
    }
    for (const [i, [start]] of runs.slice(1).entries()) {
      const before = runs[i]![1];
      const gap = flow === 'right' ? [before.x, start.x] : [before.y, start.y];
      const inGap = (box: Box) =>
        flow === 'right'
          ? box.x < gap[1]! - 0.1 && box.x + box.width > gap[0]! + 0.1
          : box.y < gap[1]! - 0.1 && box.y + box.height > gap[0]! + 0.1;
      expect(boxes.some(inGap)).toBe(false);
    }
  }
}

type Area = Pick<Box, 'x' | 'y' | 'width' | 'height'>;

function overlap(a: Area, b: Area): boolean {
  const meet = (from: number, size: number, other: number, otherSize: number) =>
    from < other + otherSize - 0.1 && other < from + size - 0.1;
  return meet(a.x, a.width, b.x, b.width) && meet(a.y, a.height, b.y, b.height);
}
