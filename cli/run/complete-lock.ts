// Puts into the lock file what was settled before this run and is not in it, as when somebody has removed it.

import { entryFromRecord } from './lock-entries.ts';
import type { RunParts } from './run-parts.ts';

export async function completeLock({ request, tools, ask, kept, recipes, saving }: RunParts): Promise<void> {
  const { lock, machine, root } = tools;
  if (!request.loaded.workflow.policy.lockFile || lock.wasComplete) return;
  const prefix = root.endsWith('/') ? root : `${root}/`;
  for (const record of await ask.records()) {
    const stage = kept.stages.get(record.stage);
    if (stage === undefined || record.recipe === null) continue;
    if (lock.cacheKeyOf(record.stage, record.entity) !== undefined) continue;
    const recipe = await recipes.find(record.recipe);
    if (recipe === null) continue;
    const outs = record.outs.map(({ path, hash, size }) => ({
      ...{ path, hash, size: size ?? 0 },
      name: path.startsWith(prefix) ? path.slice(prefix.length) : path,
    }));
    const producedMs = record.produced_at === null ? Date.now() : Date.parse(record.produced_at);
    const { deps, skipped, cache_key: cacheKey } = record;
    const entry = entryFromRecord(machine.hash, {
      ...{ stage, recipe, deps, outs, cacheKey, skipped, producedMs },
    });
    lock.set(stage, record.entity, entry);
    saving.soon();
  }
}
