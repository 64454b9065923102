// One workflow, any number of entities: `in/{x}.txt → out/{x}.txt`, registered, scanned, claimed and completed.

import type { Claimed } from '../../schema/wire.ts';
import type { Plane } from './plane.ts';

type Ask = Plane['ask'];

export const BATCH_OF_SCAN = 5_000;

export async function register(ask: Ask, workflow: string): Promise<void> {
  const source = 'stages:\n  copy_{x}: {cmd: cp in out, deps: ["in/{x}.txt"], outs: ["out/{x}.txt"]}\n';
  await ask('PUT', `/api/workflows/${workflow}?root=/${workflow}`, source);
}

export async function scan(ask: Ask, workflow: string, entities: number): Promise<void> {
  for (let from = 0; from < entities; from += BATCH_OF_SCAN) {
    const count = Math.min(BATCH_OF_SCAN, entities - from);
    const observations = Array.from({ length: count }, (_, i) => ({
      path: `/${workflow}/in/${nameOf(from + i)}.txt`,
      hash: hashOf(from + i),
      size: 100,
    }));
    await observe(ask, observations);
  }
}

export async function observe(
  ask: Ask,
  observations: readonly { path: string; hash: string; size: number }[],
): Promise<void> {
  await ask('POST', '/api/observations', { target: 'local', watcher: 'bench', observations });
}

/** So many runners at once take and finish so many items at a time until nothing is left; how many there were. */
export async function drain(
  ask: Ask,
  workflow: string,
  { runners, batch }: { readonly runners: number; readonly batch: number },
): Promise<number> {
  let done = 0;
  const work = async (runner: string) => {
    for (;;) {
      const claim = { runner, targets: ['local'], limit: batch, workflow };
      const { items } = await ask<{ items: Claimed[] }>('POST', '/api/work/claim', claim);
      if (items.length === 0) return;
      await ask('POST', '/api/work/complete', { runner, items: items.map(resultOf) });
      done += items.length;
    }
  };
  await Promise.all(Array.from({ length: runners }, (_, i) => work(`runner-${i}`)));
  return done;
}

function resultOf({ token, root, entity }: Claimed) {
  const read = hashOf(Number(entity.slice(1)));
  return {
    token,
    cache_key: hashOf(token),
    recipe: hashOf(0),
    recipe_body: { cmd: 'cp in out' },
    deps: [{ path: `in/${entity}.txt`, hash: read }],
    consumed: [{ path: `${root}/in/${entity}.txt`, hash: read }],
    outs: [{ path: `${root}/out/${entity}.txt`, hash: hashOf(token), size: 100 }],
    content_hash: hashOf(token),
    seconds: 0.01,
  };
}

export function nameOf(entity: number): string {
  return `e${String(entity).padStart(7, '0')}`;
}

/** Not of anything, but as good as one: the control plane only compares. */
export function hashOf(number: number): string {
  return `blake3:${number.toString(16).padStart(64, '0')}`;
}
