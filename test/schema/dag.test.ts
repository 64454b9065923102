import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findCycles } from '../../schema/cycle.ts';
import { buildDag, type DagStage, downstreamOf, orderStages, upstreamOf } from '../../schema/dag.ts';
import { expandPattern, matchPattern, type Pattern, parsePattern } from '../../schema/pattern.ts';
import { LOCAL, type StageId, type TargetName } from '../../schema/words.ts';

interface StageText {
  readonly deps?: readonly string[];
  readonly outs?: readonly string[];
  readonly after?: readonly string[];
  readonly kind?: DagStage['kind'];
  readonly target?: string;
}

const id = (name: string) => name as StageId;

function stage(name: string, { deps = [], outs = [], after = [], kind, target }: StageText): DagStage {
  const place = (target ?? LOCAL) as TargetName;
  return {
    id: id(name),
    kind: kind ?? 'transform',
    target: place,
    after: after.map(id),
    deps: deps.map((path) => ({ path, target: place })),
    outs: outs.map((path) => ({ path, remote: null })),
  };
}

const build = (stages: Readonly<Record<string, StageText>>) =>
  buildDag(Object.entries(stages).map(([name, text]) => stage(name, text)));

const arrows = (stages: Readonly<Record<string, StageText>>) =>
  build(stages).dag.edges.map(({ from, to }) => `${from}→${to}`);

describe('edges', () => {
  test.each([
    ['an equal path', 'data/a.txt', 'data/a.txt', true],
    ['an equal path, written another way', './data//a.txt', 'data/x/../a.txt', true],
    ['a directory with and without its slash', 'data/', 'data', true],
    ['a file inside a directory dep', 'data/deep/a.txt', 'data/', true],
    ['a file of a directory out', 'data/', 'data/deep/a.txt', true],
    ['everything below the root', 'data/a.txt', './', true],
    ['a pattern inside a directory dep', 'data/{x}.txt', 'data/', true],
    ['overlapping patterns', 'data/{x}.txt', 'data/{y}.txt', true],
    ['patterns that overlap in the middle', 'data/a-{x}', 'data/{y}-b', true],
    ['a pattern and one of its paths', 'data/{x}.txt', 'data/a.txt', true],
    ['a path and a pattern it fits', 'data/a.txt', 'data/{x}.txt', true],
    ['absolute paths', '/corpus/a.wav', '/corpus/', true],
    ['names that only begin alike', 'data/a.txt', 'data/a.txt.bak', false],
    ['directories that only begin alike', 'data2/a.txt', 'data/', false],
    ['patterns with different ends', 'data/{x}.txt', 'data/{x}.json', false],
    ['patterns with different beginnings', 'data/a{x}', 'data/b{y}', false],
    ['a variable does not reach into the next segment', 'data/{x}', 'other/{x}/y', false],
    ['absolute is not relative', '/data/a.txt', 'data/a.txt', false],
  ])('implicit DAG from deps and outs: %s (%s, %s): %s', (_, out, dep, meets) => {
    const found = arrows({ use: { deps: [dep] }, make: { outs: [out] } });
    expect(found).toEqual(meets ? ['make→use'] : []);
  });

  test('implicit DAG from deps and outs: paths on different targets are different places', () => {
    const out = { outs: ['a.txt'], target: 'gpu' };
    expect(arrows({ make: out, use: { deps: ['a.txt'], target: 'cpu' } })).toEqual([]);
    expect(arrows({ make: out, use: { deps: ['a.txt'], target: 'gpu' } })).toEqual(['make→use']);
  });

  test('implicit DAG from deps and outs: a remote out is found on the target it is sent to', () => {
    const make: DagStage = { ...stage('make', {}), outs: [{ path: 'a', remote: 'gpu' as TargetName }] };
    const { dag } = buildDag([
      make,
      stage('there', { deps: ['a'], target: 'gpu' }),
      stage('here', { deps: ['a'] }),
    ]);
    expect(dag.edges.map(({ to }) => to)).toEqual(['there']);
  });

  test('implicit DAG from deps and outs: a writer of exactly the file rules out a pattern that could mean it', () => {
    expect(
      arrows({
        each: { deps: ['in/{x}'], outs: ['out/{x}.txt'] },
        sum: { deps: ['in/'], outs: ['out/summary.txt'] },
        send: { deps: ['out/summary.txt'] },
      }),
    ).toEqual(['sum→send']);
  });

  test('implicit DAG from deps and outs: two deps on one stage make one edge, which tells the first path', () => {
    const { dag } = build({ make: { outs: ['a', 'b'] }, use: { deps: ['b', 'a'], after: ['make'] } });
    expect(dag.edges).toEqual([{ from: 'make', to: 'use', cause: { kind: 'path', path: 'b' } }]);
  });

  test('implicit DAG from deps and outs: locate makes an absolute path and its relative form one place', () => {
    const stages = [stage('make', { outs: ['/work/a.txt'] }), stage('use', { deps: ['a.txt'] })];
    const { dag } = buildDag(stages, (path) => path.replace('/work/', ''));
    expect(dag.edges).toHaveLength(1);
  });

  test('implicit DAG from deps and outs: a path of 50,000 segments does not end the stack', () => {
    expect(arrows({ make: { outs: ['a/'.repeat(50_000)] }, use: { deps: ['a/'] } })).toEqual(['make→use']);
  });

  test('explicit after edges: order without a path', () => {
    const { dag } = build({ use: { after: ['make'] }, make: {} });
    expect(dag.edges).toEqual([{ from: 'make', to: 'use', cause: { kind: 'after' } }]);
    expect(dag.order).toEqual(['make', 'use']);
  });

  test('explicit after edges: an unknown name makes no edge, because whoever read the file reports it', () => {
    expect(arrows({ use: { after: ['nobody'] } })).toEqual([]);
  });

  test('DAG construction is sound: an edge exactly where a path of the out is one of the dep or below it', () => {
    const name = fc.constantFrom('a', 'b', 'ab', '{x}', 'a{x}', '{x}b', 'a{x}b');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    fc.assert(
      fc.property(path, path, (out, dep) => {
        const found = arrows({ make: { outs: [out] }, use: { deps: [dep] } }).length > 0;
        expect(found).toBe(canMeet(out, dep));
      }),
      { numRuns: 500 },
    );
  });
});

/** The naive oracle: tries every short name for every variable, segment by segment. */
function canMeet(out: string, dep: string): boolean {
  const [left, right] = [out.split('/'), dep.split('/')];
  return left.every((segment, i) => right[i] === undefined || segmentsMeet(segment, right[i]));
}

const NAMES = ['a', 'b', 'ab', 'ba', 'aa', 'bb', 'aab', 'abb', 'aabb', 'acb', 'abab'];

function segmentsMeet(one: string, two: string): boolean {
  const [p, q] = [parsed(one), parsed(two)];
  return NAMES.some((value) => {
    const path = expandPattern(p, { x: value });
    return path !== null && matchPattern(q, path) !== null;
  });
}

function parsed(text: string): Pattern {
  const result = parsePattern(text);
  if (!result.ok) throw new Error(result.message);
  return result.pattern;
}

describe('problems', () => {
  test('cycle detection aborts: the loop is told in the order of its needs', () => {
    const { problems } = build({
      a: { deps: ['c'], outs: ['a'] },
      b: { deps: ['a'], outs: ['b'] },
      c: { deps: ['b'], outs: ['c'] },
      free: { deps: ['c'] },
    });
    expect(problems).toEqual([{ problem: 'cycle', stages: ['a', 'b', 'c'] }]);
  });

  test('cycle detection aborts: a loop of paths and after together', () => {
    const { problems } = build({ a: { outs: ['a'], after: ['b'] }, b: { deps: ['a'] } });
    expect(problems).toEqual([{ problem: 'cycle', stages: ['a', 'b'] }]);
  });

  test('cycle detection aborts: a stage after itself', () => {
    expect(build({ a: { after: ['a'] } }).problems).toEqual([{ problem: 'cycle', stages: ['a'] }]);
  });

  test('cycle detection aborts: two separate loops are both told', () => {
    const { problems } = build({
      a: { after: ['b'] },
      b: { after: ['a'] },
      c: { after: ['d'] },
      d: { after: ['c'] },
    });
    expect(problems).toHaveLength(2);
  });

  test('cycle detection aborts: a loop of 5,000 stages does not end the stack', () => {
    const ids = Array.from({ length: 5_000 }, (_, i) => id(`s${i}`));
    const edges = ids.map((from, i) => ({ from, to: ids[(i + 1) % ids.length]! }));
    expect(findCycles(ids, edges)).toEqual([ids]);
  });

  test.each([
    ['the same path', 'out/a', 'out/a', true],
    ['the same pattern under other names', 'out/{x}.txt', 'out/{y}.txt', true],
    ['a file inside the other directory', 'out/', 'out/a', true],
    ['a directory around the other file', 'out/a', 'out/', true],
    ['a pattern beside one of its paths, fine until they collide', 'out/{x}.txt', 'out/summary.txt', false],
    ['patterns that merely overlap', 'out/a{x}', 'out/{x}b', false],
    ['different files of one directory', 'out/a', 'out/b', false],
    ['names that begin alike', 'out/a', 'out/ab', false],
  ])('two writers: %s (%s, %s): %s', (_, one, two, refused) => {
    const { problems } = build({ first: { outs: [one] }, second: { outs: ['else', two] } });
    const expected = { problem: 'two-writers', stages: ['first', 'second'], paths: [one, two], outIndex: 1 };
    expect(problems).toEqual(refused ? [expected] : []);
  });

  test('two writers: a source observes and writes nothing', () => {
    expect(build({ seen: { outs: ['a'], kind: 'source' }, made: { outs: ['a'] } }).problems).toEqual([]);
    expect(build({ made: { outs: ['a'] }, seen: { outs: ['a'], kind: 'source' } }).problems).toEqual([]);
  });

  test('two writers: one path on two targets is two places', () => {
    expect(build({ a: { outs: ['x'], target: 'one' }, b: { outs: ['x'], target: 'two' } }).problems).toEqual(
      [],
    );
  });

  test.each([
    ['a', 'a'],
    ['data/out.txt', 'data/'],
    ['data/', 'data/in.txt'],
    ['feeds/{feed}/digest.json', 'feeds/{feed}/{guid}.json'],
  ])('own dep: a stage that writes %s and reads %s would never be fresh', (out, dep) => {
    const { problems } = build({ only: { deps: ['other', dep], outs: [out] } });
    expect(problems).toEqual([{ problem: 'own-dep', stage: 'only', out, outIndex: 0, dep }]);
  });
});

const MAX = 8;
const pair = fc.tuple(fc.nat(MAX - 1), fc.nat(MAX - 1));
const anyGraph = fc
  .record({ size: fc.integer({ min: 1, max: MAX }), pairs: fc.array(pair, { maxLength: 14 }) })
  .map(({ size, pairs }) => graph(size, pairs));
/** Each edge goes up in a hidden ranking, so there is no cycle, but file order says nothing about it. */
const acyclic = fc
  .record({
    ranking: fc.shuffledSubarray([...Array(MAX).keys()], { minLength: MAX }),
    pairs: fc.array(pair, { maxLength: 20 }),
  })
  .map(({ ranking, pairs }) =>
    graph(
      MAX,
      pairs.filter(([a, b]) => ranking[a]! < ranking[b]!),
    ),
  );

function graph(size: number, pairs: readonly (readonly [number, number])[]) {
  const ids = Array.from({ length: size }, (_, i) => id(`s${i}`));
  const wanted = new Set(pairs.filter(([a, b]) => a < size && b < size).map(([a, b]) => a * MAX + b));
  const edges = [...wanted].map((n) => ({
    from: ids[Math.floor(n / MAX)]!,
    to: ids[n % MAX]!,
    cause: { kind: 'after' as const },
  }));
  return { ids, edges };
}

/** Which stages can be reached from which, by trying again until nothing is added. */
function closure({ ids, edges }: ReturnType<typeof graph>): Map<StageId, Set<StageId>> {
  const reached = new Map(ids.map((from) => [from, new Set<StageId>()]));
  for (let i = 0; i <= ids.length; i++) {
    for (const { from, to } of edges) {
      for (const set of [...reached].filter(([start, s]) => start === from || s.has(from))) set[1].add(to);
    }
  }
  return reached;
}

describe('order', () => {
  test('DAG toposort is valid: every stage once, after all it needs, for any acyclic graph', () => {
    fc.assert(
      fc.property(acyclic, ({ ids, edges }) => {
        const { order, depth } = orderStages(ids, edges);
        expect([...order].sort()).toEqual([...ids].sort());
        for (const { from, to } of edges) {
          expect(order.indexOf(from)).toBeLessThan(order.indexOf(to));
          expect(depth.get(from)!).toBeLessThan(depth.get(to)!);
        }
        expect(findCycles(ids, edges)).toEqual([]);
      }),
    );
  });

  test('DAG toposort is valid: of the stages that are ready, the first of the file goes first', () => {
    fc.assert(
      fc.property(acyclic, ({ ids, edges }) => {
        const { order } = orderStages(ids, edges);
        const done = new Set<StageId>();
        for (const next of order) {
          const ready = ids.find(
            (one) => !done.has(one) && edges.every(({ from, to }) => to !== one || done.has(from)),
          );
          expect(next).toBe(ready);
          done.add(next);
        }
      }),
    );
  });

  test('cycle detection aborts: every knot is found exactly once, with a loop that exists', () => {
    fc.assert(
      fc.property(anyGraph, (any) => {
        const reached = closure(any);
        const knotted = any.ids.filter((one) => reached.get(one)!.has(one));
        const knots = new Set(
          knotted.map((one) =>
            knotted.filter((two) => reached.get(one)!.has(two) && reached.get(two)!.has(one)).join(),
          ),
        );
        const loops = findCycles(any.ids, any.edges);
        expect(loops).toHaveLength(knots.size);
        for (const loop of loops) {
          expect(
            [...knots].filter((knot) => loop.every((one) => knot.split(',').includes(one))),
          ).toHaveLength(1);
          for (const [i, to] of loop.entries()) {
            const from = loop.at(i - 1);
            expect(any.edges.some((edge) => edge.from === from && edge.to === to)).toBe(true);
          }
        }
      }),
    );
  });

  test('downstream and upstream are what can be reached, in either direction', () => {
    fc.assert(
      fc.property(anyGraph, (any) => {
        const dag = orderStages(any.ids, any.edges);
        const reached = closure(any);
        for (const one of any.ids) {
          expect(downstreamOf(dag, one)).toEqual(reached.get(one));
          expect(upstreamOf(dag, one)).toEqual(new Set(any.ids.filter((two) => reached.get(two)!.has(one))));
        }
      }),
    );
  });

  test('parallel branches detected: stages of equal depth have no path between them', () => {
    const { dag } = build({
      join: { deps: ['l', 'r'] },
      left: { deps: ['s'], outs: ['l'] },
      right: { deps: ['s'], outs: ['r'] },
      start: { outs: ['s'] },
    });
    expect(Object.fromEntries(dag.depth)).toEqual({ start: 0, left: 1, right: 1, join: 2 });
    expect(dag.order).toEqual(['start', 'left', 'right', 'join']);
    expect(dag.downstream.get(id('start'))).toEqual(['left', 'right']);
    expect(dag.upstream.get(id('join'))).toEqual(['left', 'right']);
  });

  test('parallel branches detected: stages of one depth never need each other, in any graph', () => {
    fc.assert(
      fc.property(acyclic, (any) => {
        const { depth } = orderStages(any.ids, any.edges);
        for (const [from, reached] of closure(any))
          for (const to of reached) expect(depth.get(from)).not.toBe(depth.get(to));
      }),
    );
  });
});
