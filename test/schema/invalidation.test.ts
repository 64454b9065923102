import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { hashValue } from '../../schema/blake3.ts';
import { buildDag, downstreamOf } from '../../schema/dag.ts';
import { computeKey, hashMembers, type Preimage } from '../../schema/key.ts';
import { explain } from '../../schema/reason.ts';
import { judge, type StateRecord, type UpstreamFact } from '../../schema/verdict.ts';
import { type Blake3, type EntityId, type Json, LOCAL, type StageId } from '../../schema/words.ts';

interface Step {
  readonly name: string;
  readonly cmd?: string;
  readonly deps: readonly string[];
  readonly params?: readonly string[];
  /** Makes the same output whatever it is given. */
  readonly constant?: boolean;
}

const hash = loadBlake3().hash;
const content = (value: Json) => hashValue(hash, 'content', value);
const NONE = '' as EntityId;

/** A disk, the records, and a run that goes through the stages in order, making only what is stale. */
class World {
  readonly disk = new Map<string, Blake3>();
  readonly params: Record<string, Json> = {};
  readonly #records = new Map<string, StateRecord[]>();

  run(steps: readonly Step[]): Map<string, string[]> {
    const ran = new Map<string, string[]>();
    const changed = new Set<string>();
    const { dag, problems } = dagOf(steps);
    expect(problems).toEqual([]);
    for (const id of dag.order) {
      const step = steps.find(({ name }) => name === id)!;
      const upstream = dag.upstream.get(id)!.map(
        (stage): UpstreamFact => ({
          stage,
          entity: NONE,
          status: 'settled',
          reran: changed.has(stage) ? [`${stage}.out`] : [],
        }),
      );
      const reasons = this.#visit(step, upstream, changed);
      if (reasons !== null) ran.set(step.name, reasons);
    }
    return ran;
  }

  #visit(step: Step, upstream: readonly UpstreamFact[], changed: Set<string>): string[] | null {
    const path = `${step.name}.out`;
    const preimage = this.#preimage(step);
    const key = computeKey(hash, preimage);
    const records = this.#records.get(step.name) ?? [];
    const verdict = judge({
      current: { key, preimage },
      records,
      hasLockFile: true,
      outs: [{ path, hash: this.disk.get(path) ?? null }],
      editable: false,
      frozen: false,
      due: false,
      forced: false,
      invalidatedBy: null,
      missing: [],
      upstream,
      failure: null,
      nowMs: 0,
    });
    if (verdict.verdict !== 'stale') return null;
    const made = content(step.constant ? step.name : key.cacheKey);
    if (this.disk.get(path) !== made) changed.add(step.name);
    this.disk.set(path, made);
    const record = { cacheKey: key.cacheKey, preimage, outs: [{ path, hash: made }], skipped: false };
    this.#records.set(step.name, [record, ...records].slice(0, 4));
    return verdict.reasons.map(explain);
  }

  #preimage({ cmd = '', name, deps, params = [] }: Step): Preimage {
    return {
      action: { kind: 'shell', cmd: `${name} ${cmd}`, shell: 'rash', env: {} },
      code: [],
      params: Object.fromEntries(params.map((param) => [param, this.params[param]!])),
      deps: deps.map((path) => ({ path, hash: this.#hashOf(path) })),
    };
  }

  /** A dep that ends in `*` stands for one that collects. */
  #hashOf(path: string): Blake3 {
    if (!path.endsWith('*')) return this.disk.get(path) ?? content(null);
    const members = [...this.disk].filter(([file]) => file.startsWith(path.slice(0, -1)));
    return hashMembers(
      hash,
      members.map(([file, digest]) => ({ path: file, hash: digest })),
    );
  }
}

function dagOf(steps: readonly Step[]) {
  return buildDag(
    steps.map(({ name, deps }) => ({
      id: name as StageId,
      kind: 'transform' as const,
      target: LOCAL,
      after: [],
      deps: deps.map((path) => ({ path: path.replace('*', '{x}'), target: LOCAL })),
      outs: [{ path: `${name}.out`, remote: null }],
    })),
  );
}

const SIZE = 7;
/** Stage i reads some of the stages before it, and its own input file. */
const steps: fc.Arbitrary<Step[]> = fc
  .array(fc.record({ before: fc.subarray([...Array(SIZE).keys()]), constant: fc.boolean() }), {
    minLength: SIZE,
    maxLength: SIZE,
  })
  .map((shapes) =>
    shapes.map(({ before, constant }, i) => ({
      name: `s${i}`,
      constant,
      params: [`p${i}`],
      deps: [`in${i}`, ...before.filter((j) => j < i).map((j) => `s${j}.out`)],
    })),
  );
const changing = (list: readonly Step[]) => list.map((step) => ({ ...step, constant: false }));

function worldOf(list: readonly Step[]): World {
  const world = new World();
  for (const i of list.keys()) {
    world.params[`p${i}`] = 0;
    world.disk.set(`in${i}`, content(`in${i}`));
  }
  expect(world.run(list).size).toBe(list.length);
  expect(world.run(list).size).toBe(0);
  return world;
}

/** The stages that must run, found by following changed outputs one edge at a time. */
function expectedRuns(list: readonly Step[], from: number): string[] {
  const changed = new Set<string>();
  return list.flatMap(({ name, deps, constant }, i) => {
    if (i !== from && !deps.some((path) => changed.has(path))) return [];
    if (!constant) changed.add(`${name}.out`);
    return [name];
  });
}

describe('over random workflows', () => {
  const index = fc.nat(SIZE - 1);

  test('invalidation propagates: changing a command makes exactly it and its downstream stale', () => {
    fc.assert(
      fc.property(steps, index, (shapes, at) => {
        const list = changing(shapes);
        const world = worldOf(list);
        const { dag } = dagOf(list);
        const ran = world.run(list.map((step, i) => (i === at ? { ...step, cmd: 'other' } : step)));
        const id = `s${at}` as StageId;
        expect(new Set(ran.keys())).toEqual(new Set([id, ...downstreamOf(dag, id)]));
      }),
    );
  });

  test('dep change propagates through dag, and stops where an output stays the same', () => {
    fc.assert(
      fc.property(steps, index, (list, at) => {
        const world = worldOf(list);
        world.disk.set(`in${at}`, content('changed'));
        expect([...world.run(list).keys()]).toEqual(expectedRuns(list, at));
        expect(world.run(list).size).toBe(0);
      }),
    );
  });

  test('param change invalidates downstream, and only where outputs change', () => {
    fc.assert(
      fc.property(steps, index, (list, at) => {
        const world = worldOf(list);
        world.params[`p${at}`] = 1;
        const ran = world.run(list);
        expect([...ran.keys()]).toEqual(expectedRuns(list, at));
        expect(ran.get(`s${at}`)).toEqual([`params_hash changed: p${at} 0 → 1`]);
      }),
    );
  });

  test('unrelated param no invalidation', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const world = worldOf(list);
        world.params.nobody = 'reads this';
        expect(world.run(list).size).toBe(0);
      }),
    );
  });

  test('a deleted output is made again, and its downstream stays if it comes out the same', () => {
    fc.assert(
      fc.property(steps, index, (list, at) => {
        const world = worldOf(list);
        world.disk.delete(`s${at}.out`);
        expect([...world.run(list)]).toEqual([[`s${at}`, [`output missing: s${at}.out`]]]);
      }),
    );
  });

  test('adding a new stage preserves the cache of the others', () => {
    fc.assert(
      fc.property(steps, index, (list, at) => {
        const world = worldOf(list);
        const more = { name: 'more', deps: [`s${at}.out`] };
        expect([...world.run([...list, more])]).toEqual([
          ['more', ['stage not found in lock file — new stage']],
        ]);
      }),
    );
  });
});

describe('by name', () => {
  const chain: Step[] = [
    { name: 'extract', deps: ['video'] },
    { name: 'transcribe', deps: ['extract.out'], params: ['model'] },
    { name: 'chunk', deps: ['transcribe.out'] },
    { name: 'poster', deps: ['video'] },
  ];

  test('param change invalidates downstream, and each stage says why', () => {
    const world = new World();
    world.params.model = 'tiny';
    world.run(chain);
    world.params.model = 'base';
    expect(Object.fromEntries(world.run(chain))).toEqual({
      transcribe: ['params_hash changed: model "tiny" → "base"'],
      chunk: ["deps_hash changed: transcribe.out (upstream 'transcribe' re-ran)"],
    });
  });

  const samples: Step[] = ['a', 'b', 'c'].map((s) => ({ name: `align_${s}`, deps: [`${s}.fq`] }));
  const call: Step = { name: 'call', deps: ['align_*'] };

  test('wildcard per sample caching: one changed sample runs alone, then what collects it', () => {
    const world = new World();
    for (const s of ['a', 'b', 'c']) world.disk.set(`${s}.fq`, content(s));
    world.run([...samples, call]);
    world.disk.set('b.fq', content('changed'));
    expect([...world.run([...samples, call]).keys()]).toEqual(['align_b', 'call']);
  });

  test('wildcard downstream collects all expanded: it comes after every sample, and one more makes it stale', () => {
    const world = new World();
    const { dag } = dagOf([call, ...samples]);
    expect(dag.upstream.get('call' as StageId)).toEqual(['align_a', 'align_b', 'align_c']);
    expect([...world.run([call, ...samples]).keys()].at(-1)).toBe('call');
    const more = { name: 'align_d', deps: ['d.fq'] };
    expect([...world.run([call, ...samples, more]).keys()]).toEqual(['align_d', 'call']);
  });
});
