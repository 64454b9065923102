// What a request costs in statements and round trips: the same for ten thousand entities as for a hundred.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN, ControlPlane } from '../../rig/control-plane.ts';
import { startInProcess } from '../../rig/control-plane-shapes.ts';

const SIZES = [100, 10_000] as const;
const planes = new Map<number, ControlPlane>();

beforeAll(async () => {
  for (const size of SIZES) {
    const cp = new ControlPlane();
    cp.shape = await startInProcess();
    await cp.register('w', CHAIN);
    for (let from = 0; from < size; from += 5_000) {
      const count = Math.min(5_000, size - from);
      await cp.see(Object.fromEntries(Array.from({ length: count }, (_, i) => [`raw/${from + i}.txt`, 'x'])));
    }
    for (const item of await cp.claim({ limit: 40 })) await cp.make(item);
    await cp.fail(await cp.claimOne({ stages: ['clean'] }));
    expect(await cp.status()).toMatchObject({ entities: size });
    planes.set(size, cp);
  }
}, 60_000);
afterAll(async () => {
  for (const cp of planes.values()) await cp.shape.stop();
});

const REQUESTS: Readonly<Record<string, (cp: ControlPlane) => Promise<() => Promise<unknown>>>> = {
  'observing one changed file': async (cp) => () => cp.see({ 'raw/7.txt': `now ${Math.random()}` }),
  'observing one unchanged file': async (cp) => () => cp.see({ 'raw/8.txt': 'x' }),
  'observing one new file': async (cp) => () => cp.see({ [`raw/new ${Math.random()}.txt`]: 'x' }),
  'claiming one': async (cp) => () => cp.claim({ limit: 1 }),
  'claiming when there is nothing for this runner': async (cp) => () => cp.claim({ free: { cores: 0 } }),
  heartbeat: async (cp) => {
    const item = await cp.claimOne();
    return () => cp.heartbeat([item]);
  },
  'completing one': async (cp) => {
    const body = { runner: 'r1', items: [await cp.result(await cp.claimOne())] };
    return () => cp.post('/api/work/complete', body);
  },
  'failing one': async (cp) => {
    const item = await cp.claimOne();
    return () => cp.fail(item);
  },
  status: async (cp) => () => cp.status(),
  'a page of entities': async (cp) => () => cp.get('/api/pipeline/w/entities?limit=50'),
  'a page of states': async (cp) => () => cp.get('/api/workflows/w/states?limit=50'),
  'one entity': async (cp) => () => cp.get('/api/pipeline/w/entity/7'),
  why: async (cp) => () => cp.why('count', '30'),
  'a page of events': async (cp) => () => cp.get('/api/events?limit=50'),
  metrics: async (cp) => () => cp.request('GET', '/metrics'),
  'invalidating everything': async (cp) => () => cp.invalidate(),
  'registering the same again': async (cp) => () => cp.register('w', CHAIN),
};

test.each(Object.keys(REQUESTS))('%s', async (name) => {
  const costs = [];
  for (const cp of planes.values()) costs.push(await costOf(cp, await REQUESTS[name]!(cp)));
  const [small, large] = costs;
  expect(large).toEqual(small);
  // A Worker may ask its database 50 times per request; few is what makes it quick.
  expect(large!.batches).toBeLessThanOrEqual(6);
});

async function costOf({ shape: { db } }: ControlPlane, act: () => Promise<unknown>) {
  const before = { ...db.stats };
  await act();
  return {
    statements: db.stats.statements - before.statements,
    batches: db.stats.batches - before.batches,
  };
}
