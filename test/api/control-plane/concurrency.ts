// Many runners at once: each state is handed out to exactly one of them, and none is left.

import { expect, test } from 'vitest';
import { sql } from '../../../api/store/database.ts';
import { type ControlPlane, playbook, step } from '../../rig/control-plane.ts';

interface Race {
  readonly claimers: number;
  readonly items: number;
}

type Claim = (runner: string) => Promise<readonly { readonly entity: string }[]>;

/** Over the network, and in workerd more so, a request takes longer; what is shown is the same. */
const RACES: Readonly<Record<ControlPlane['shape']['name'], Race>> = {
  'in process': { claimers: 200, items: 10_000 },
  'node server': { claimers: 200, items: 10_000 },
  workerd: { claimers: 50, items: 1_000 },
};

export function concurrencyBehaviours(cp: ControlPlane): void {
  const prepare = async (items: number) => {
    await cp.register('w', playbook({ a: step('in/{x}', 'out/{x}') }));
    for (let from = 0; from < items; from += 5_000) {
      const count = Math.min(5_000, items - from);
      await cp.see(Object.fromEntries(Array.from({ length: count }, (_, i) => [`in/${from + i}`, 'x'])));
    }
  };

  test('many claimers at once get every item, and none of them twice', async () => {
    const { claimers, items } = RACES[cp.shape.name];
    await prepare(items);
    const { claimed, twice } = await race(claimers, (runner) => cp.claim({ runner, limit: 10 }));
    expect(twice).toEqual([]);
    expect(claimed).toBe(items);
    expect(await cp.status()).toMatchObject({ entities: items, processing: items, stale: 0 });
    const [attempts] = await cp.rows(
      'SELECT count(*) AS n, count(DISTINCT state_id) AS states, count(DISTINCT token) AS tokens FROM attempts',
    );
    expect(attempts).toEqual({ n: items, states: items, tokens: items });
  }, 60_000);

  test('a hundred who ask at once are all answered', async () => {
    await prepare(10);
    const asked = await Promise.all(Array.from({ length: 100 }, () => cp.status()));
    expect(asked.map(({ entities }) => entities)).toEqual(asked.map(() => 10));
  });

  test('the same race shows double claims if a claim looks first and writes then', async () => {
    await prepare(60);
    const { twice } = await race(6, (runner) => carelessClaim(cp, runner));
    expect(twice.length).toBeGreaterThan(0);
  });
}

/** Each claims until it comes back with nothing. */
async function race(claimers: number, claim: Claim) {
  const claims = new Map<string, number>();
  const run = async (runner: string) => {
    for (let items = await claim(runner); items.length > 0; items = await claim(runner))
      for (const { entity } of items) claims.set(entity, (claims.get(entity) ?? 0) + 1);
  };
  await Promise.all(Array.from({ length: claimers }, (_, i) => run(`runner-${i}`)));
  const twice = [...claims].filter(([, times]) => times > 1).map(([entity]) => entity);
  return { claimed: claims.size, twice };
}

/** How a claim must not be made: what it saw may be another's by the time it writes. */
async function carelessClaim({ shape: { db } }: ControlPlane, runner: string) {
  const found = await db.batch(
    [
      sql(
        `SELECT s.id, e.name AS entity FROM states s JOIN entities e ON e.id = s.entity_id
         WHERE s.status = 'stale' AND s.blockers = 0 ORDER BY s.id LIMIT 10`,
      ),
    ],
    'read',
  );
  const { rows } = found[0]!;
  await db.batch(
    rows.flatMap(({ id }) => [
      sql(
        `INSERT INTO attempts (state_id, workflow_id, stage_id, entity_id, runner, claim, kind, started_at, lease_until)
         SELECT id, workflow_id, stage_id, entity_id, ?2, 1, 'make', 1, 9999999999999 FROM states WHERE id = ?1`,
        ...[id!, runner],
      ),
      sql(
        `UPDATE states SET status = 'running', token = (SELECT max(token) FROM attempts), lease_until = 9999999999999
         WHERE id = ?`,
        id!,
      ),
    ]),
    'write',
  );
  return rows.map(({ entity }) => ({ entity: entity as string }));
}
