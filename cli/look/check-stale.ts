// Goes through everything that could be made now, as a runner would, and makes nothing: what a record vouches for is
// settled, the rest is held until all has been seen and then given back.

import { answerOf } from '../../host/client.ts';
import { type Judged, judgeClaim } from '../../runner/judge-claim.ts';
import { type RecipeOf, type RecordedRecipe, recipeOf } from '../../runner/records.ts';
import { type StateFiles, stateFiles } from '../../runner/state-files.ts';
import type { Pattern } from '../../schema/pattern.ts';
import type { Claimed, OneState } from '../../schema/wire.ts';
import type { EntityId } from '../../schema/words.ts';
import { type Place, RUNNER, TARGET } from '../run/look.ts';

/** A state that would be made, or cannot be. */
export interface Unmade {
  readonly item: Claimed;
  readonly files: StateFiles;
  readonly judged: Exclude<Judged, { kind: 'vouched' | 'missing' }>;
}

/** Decides what becomes of a claim that no record vouches for: true settles it with what is on disk. */
export type Adopt = (unmade: Unmade) => boolean;

export interface CheckOptions {
  readonly adopt?: Adopt;
  /** One state and what it needs. */
  readonly only?: OneState;
}

const AT_ONCE = 500;
/** Nobody else works here meanwhile; a crash is made good by the next command, which frees what was held. */
const LEASE_SECONDS = 3_600;

export async function checkStale(
  place: Place,
  stages: readonly string[],
  { adopt = () => false, only }: CheckOptions = {},
): Promise<readonly Unmade[]> {
  if (stages.length === 0) return [];
  const held: Unmade[] = [];
  const recipe = recipeReader(place);
  const list = remembered(place.machine.list);
  try {
    for (;;) {
      const items = await claim(place, stages, only);
      if (items.length === 0) return held;
      const settled: Settled[] = [];
      for (const item of items) {
        const stage = place.loaded.workflow.stages.find(({ id }) => id === item.stage)!;
        const context = { workflow: place.loaded.workflow, root: place.root, list };
        const files = stateFiles(stage, item.entity as EntityId, context);
        const judged = await judgeHere(item, files, { place, recipe });
        if (judged.kind === 'vouched') settled.push({ item, judged });
        else if (judged.kind === 'stale' && adopt({ item, files, judged }))
          settled.push({ item, judged: { ...judged, kind: 'vouched', outcome: 'verified' } });
        else held.push({ item, files, judged });
      }
      await settle(place, settled);
    }
  } finally {
    await giveBack(
      place,
      held.map(({ item }) => item.token),
    );
  }
}

async function judgeHere(
  item: Claimed,
  files: StateFiles,
  { place, recipe }: { readonly place: Place; readonly recipe: RecipeOf },
): Promise<Exclude<Judged, { kind: 'missing' }>> {
  if (item.kind === 'clean')
    return { kind: 'unusable', reason: 'its source is gone; its output would be removed' };
  const { loaded, root, machine, lock } = place;
  const judged = await judgeClaim(item, files, {
    ...{ workflow: loaded.workflow, root, hash: machine.hash, hasher: machine.hasher },
    secretOf: machine.secretOf,
    ...{ hasLockFile: lock.existed, recipe, manifests: null, remadeBy: () => undefined },
  });
  return judged.kind === 'missing'
    ? { kind: 'unusable', reason: `missing ${judged.paths.join(', ')}` }
    : judged;
}

/** One listing per pattern, not one per state. */
export function remembered(list: (pattern: Pattern) => readonly string[]) {
  const known = new Map<string, readonly string[]>();
  return (pattern: Pattern): readonly string[] => {
    const found = known.get(pattern.text) ?? list(pattern);
    known.set(pattern.text, found);
    return found;
  };
}

export function recipeReader({ client }: Pick<Place, 'client'>): RecipeOf {
  const known = new Map<string, RecordedRecipe | null>();
  return async (hash) => {
    const found = known.get(hash);
    if (found !== undefined) return found;
    const response = await client.api.recipes[':hash'].$get({ param: { hash } });
    const body = response.ok ? ((await response.json()).body as unknown as RecordedRecipe) : null;
    known.set(hash, body);
    return body;
  };
}

async function claim(
  { client, loaded }: Place,
  stages: readonly string[],
  only: OneState | undefined,
): Promise<readonly Claimed[]> {
  const json = {
    ...{ runner: RUNNER, targets: [TARGET], limit: AT_ONCE, lease_seconds: LEASE_SECONDS },
    ...{ workflow: loaded.workflow.name, stages: [...stages], labels: {}, wait_seconds: 0 },
    ...(only === undefined ? {} : { only }),
    free: { cores: 1e6, memory_bytes: null, gpu: 1_000, pools: {} },
  };
  const { items } = await answerOf(client.api.work.claim.$post({ json }));
  return items as readonly Claimed[];
}

interface Settled {
  readonly item: Claimed;
  readonly judged: Extract<Judged, { kind: 'vouched' }>;
}

/** More inputs than this are compared by their number and root hash alone. */
const MOST_CONSUMED = 500;

async function settle({ client, machine }: Place, settled: readonly Settled[]): Promise<void> {
  for (let from = 0; from < settled.length; from += 100) {
    const items = settled.slice(from, from + 100).map(({ item, judged }) => {
      const { look, outs, outcome } = judged;
      const made = look === null ? null : recipeOf(machine.hash, look.key, look.preimage);
      const consumed = look === null || look.consumed.length > MOST_CONSUMED ? [] : [...look.consumed];
      return {
        ...{ token: item.token, outcome, reasons: [], seconds: 0, consumed },
        deps: look === null ? [] : [...look.preimage.deps],
        outs: outs.map(({ path, hash, size, files }) => ({
          ...{ path, hash, size },
          ...(files === undefined ? {} : { files }),
        })),
        ...(look === null ? {} : { cache_key: look.key.cacheKey }),
        ...(made === null ? {} : { recipe: made.hash, recipe_body: made.body as never }),
        ...(outs.length === 1 ? { content_hash: outs[0]!.hash } : {}),
      };
    });
    await answerOf(client.api.work.complete.$post({ json: { runner: RUNNER, items } }));
  }
}

async function giveBack({ client }: Place, tokens: readonly number[]): Promise<void> {
  for (let from = 0; from < tokens.length; from += AT_ONCE) {
    const json = { runner: RUNNER, tokens: tokens.slice(from, from + AT_ONCE), lease_seconds: 1 };
    await answerOf(client.api.work.release.$post({ json }));
  }
}
