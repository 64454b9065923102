// Whatever is done to it, in whichever order: what follows from the rows is what is kept beside them, nothing is
// falsely fresh, nothing is handed out twice, and when all work is done everything is settled or says why not.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Claimed } from '../../../schema/wire.ts';
import { CLEANED, ControlPlane, playbook, step } from '../../rig/control-plane.ts';
import { startInProcess } from '../../rig/control-plane-shapes.ts';
import { brokenRules, stuckStates } from './invariants.ts';

const cp = new ControlPlane();
beforeAll(async () => {
  cp.shape = await startInProcess();
});
afterAll(() => cp.shape.stop());

const RETRY = { retry: { limit: 1, backoff: { initial: '10s' } } };
const stages = {
  a: step(['raw/{x}', 'cfg'], 'a/{x}', RETRY),
  b: step('a/{x}', 'b/{x}'),
  all: step('b/{x}', 'all', { collect: { on_failed: 'omit' } }),
  tell: { cmd: 'tell', after: ['all'] },
};

/** As it is at first, with another command, other wiring, a stage less, and with cleaning. */
const DEFINITIONS = [
  playbook(stages),
  playbook({ ...stages, a: { ...stages.a, cmd: 'other' } }),
  playbook({ ...stages, b: step(['a/{x}', 'extra'], 'b/{x}') }),
  playbook({ a: stages.a, b: stages.b }),
  playbook(stages, { policy: { on_source_removed: 'clean' } }),
];

/** Another workflow: behind the first one, or writing what the first one writes. */
const OTHERS = [
  playbook({ d: step('b/{x}', 'd/{x}') }),
  playbook({ e: step('raw/{x}', ['b/{x}', 'e/{x}']) }),
];

type Op =
  | { readonly op: 'register'; readonly definition: number }
  | { readonly op: 'other'; readonly definition: number | null }
  | { readonly op: 'see'; readonly path: string; readonly content: string | null }
  | { readonly op: 'claim'; readonly runner: string; readonly limit: number }
  | {
      readonly op: 'make' | 'skip' | 'fail' | 'release' | 'forget';
      readonly nth: number;
      readonly text: string;
    }
  | { readonly op: 'pass'; readonly ms: number }
  | { readonly op: 'invalidate'; readonly stage: string }
  | { readonly op: 'retry'; readonly entity: string }
  | { readonly op: 'run'; readonly force: boolean }
  | { readonly op: 'remove' };

const text = fc.constantFrom('x', 'y', 'z');
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('other' as const), definition: fc.constantFrom(0, 1, null) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('register' as const),
      definition: fc.nat(DEFINITIONS.length - 1),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('see' as const),
      path: fc.constantFrom('raw/1', 'raw/2', 'cfg', 'a/1', 'b/1', 'all', 'extra'),
      content: fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.constant(null) }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('claim' as const),
      runner: fc.constantFrom('r1', 'r2'),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constantFrom(
        'make' as const,
        'make' as const,
        'skip' as const,
        'fail' as const,
        'release' as const,
        'forget' as const,
      ),
      nth: fc.nat(3),
      text,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('pass' as const), ms: fc.constantFrom(1_000, 15_000, 61_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('invalidate' as const), stage: fc.constantFrom('a', 'b') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('retry' as const), entity: fc.constantFrom('1', '2') }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('run' as const), force: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ op: 'remove' as const }) },
);

interface Held {
  readonly item: Claimed;
  readonly runner: string;
}

test('any script of operations keeps every rule, and what is left then can be driven to its end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 40, size: 'max' }), async (script) => {
      await cp.shape.reset();
      await cp.register('w', DEFINITIONS[0]!);
      await cp.see({ 'raw/1': 'x', cfg: 'x' });
      const held: Held[] = [];
      for (const [i, each] of script.entries()) {
        await perform(each, held);
        const broken = await brokenRules(cp.shape.db);
        if (broken.length > 0)
          throw new Error(`after step ${i} ${JSON.stringify(each)}:\n${broken.join('\n')}`);
      }
      await driveToEnd();
      expect(await brokenRules(cp.shape.db)).toEqual([]);
      expect(await stuckStates(cp.shape.db)).toEqual([]);
    }),
    // For a long hunt: SCRIPTS=5000.
    { numRuns: Number(process.env.SCRIPTS ?? 60) },
  );
}, 600_000);

async function perform(each: Op, held: Held[]): Promise<void> {
  switch (each.op) {
    case 'register':
      await cp.register('w', DEFINITIONS[each.definition]!);
      return;
    case 'other': {
      const { definition } = each;
      if (definition === null) await cp.request('DELETE', '/api/workflows/v');
      else await cp.register('v', OTHERS[definition]!);
      return;
    }
    case 'see':
      await cp.see({ [each.path]: each.content });
      return;
    case 'claim': {
      const { runner, limit } = each;
      held.push(...(await cp.claim({ runner, limit })).map((item) => ({ item, runner })));
      return;
    }
    case 'make':
    case 'skip':
    case 'fail':
    case 'release':
    case 'forget': {
      const [taken] = held.splice(Math.min(each.nth, held.length - 1), 1);
      if (taken !== undefined && each.op !== 'forget') await answer(each.op, taken, each.text);
      return;
    }
    case 'pass':
      return cp.passTime(each.ms);
    case 'invalidate':
      await cp.request('POST', '/api/pipeline/w/invalidate', { stage_id: each.stage });
      return;
    case 'retry':
      await cp.request('POST', `/api/pipeline/w/entity/${each.entity}/retry`, {});
      return;
    case 'run':
      await cp.request('POST', '/api/workflows/w/runs', { force: each.force, cause: 'script' });
      return;
    case 'remove':
      await cp.request('DELETE', '/api/workflows/w');
      await cp.register('w', DEFINITIONS[0]!);
  }
}

/** It may have lost its lease meanwhile; then nothing must change, which the rules show. */
async function answer(
  act: 'make' | 'skip' | 'fail' | 'release',
  { item, runner }: Held,
  text: string,
): Promise<void> {
  const { token } = item;
  // Sometimes a runner has read newer bytes than any watcher has reported.
  const read = item.stage === 'a' && text === 'z' ? { read: { [`raw/${item.entity}`]: 'newer' } } : {};
  const outs = { text: `${item.stage} ${text}`, ...read };
  const skipped = { outcome: 'skipped', outs: [], ...read };
  const cleaned = item.kind === 'clean' ? CLEANED : {};
  const body = {
    make: async () => ({ items: [await cp.result(item, { ...outs, ...cleaned })] }),
    skip: async () => ({ items: [await cp.result(item, { ...skipped, ...cleaned })] }),
    fail: async () => ({ items: [{ token, outcome: { kind: 'exit', code: 1 }, error: text }] }),
    release: async () => ({ tokens: [token] }),
  };
  const path = { make: 'complete', skip: 'complete', fail: 'fail', release: 'release' }[act];
  const response = await cp.request('POST', `/api/work/${path}`, { runner, ...(await body[act]()) });
  expect([200, 409]).toContain(response.status);
}

async function driveToEnd(): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await cp.passTime(600_000);
    const made = await cp.settle({ runner: 'last' });
    if (made.length === 0) return;
  }
  throw new Error('there is always more to do');
}
