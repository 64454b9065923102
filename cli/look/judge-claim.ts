// What would become of a claimed state, found out without making it: a record vouches for it, or it would be made.

import { lookAtState, type StateLook } from '../../runner/look-at-state.ts';
import { type HashedOut, preimageOf, type RecordedRecipe } from '../../runner/perform-work.ts';
import type { StateFiles } from '../../runner/state-files.ts';
import type { PathHash } from '../../schema/key.ts';
import { explain, type Reason } from '../../schema/reason.ts';
import { judge, type StateRecord } from '../../schema/verdict.ts';
import type { Claimed } from '../../schema/wire.ts';
import type { Blake3 } from '../../schema/words.ts';
import type { Place } from '../run/look.ts';

export type Seen = Extract<StateLook, { kind: 'seen' }>;

export type Judged =
  /** `look` is null for a frozen state whose inputs are gone. */
  | { readonly kind: 'vouched'; readonly look: Seen | null; readonly outs: readonly HashedOut[] }
  | {
      readonly kind: 'stale';
      readonly look: Seen;
      readonly outs: readonly HashedOut[];
      readonly reasons: readonly string[];
    }
  /** It would fail before any command is started. */
  | { readonly kind: 'unusable'; readonly reason: string };

export type RecipeOf = (hash: string) => Promise<RecordedRecipe | null>;

export async function judgeClaim(
  item: Claimed,
  files: StateFiles,
  { place, recipe }: { readonly place: Place; readonly recipe: RecipeOf },
): Promise<Judged> {
  const { loaded, root, machine, lock } = place;
  const { hash, hasher } = machine;
  const { stage } = files;
  const asked = item.reasons as readonly Reason[];
  const forced = asked.some(({ reason }) => reason === 'forced' || reason === 'invalidated');
  const look = await lookAtState(files, { workflow: loaded.workflow, root, hash, hasher });
  if (look.kind === 'unreadable') return { kind: 'unusable', reason: look.reason };
  if (look.kind === 'missing' && (forced || !stage.frozen))
    return { kind: 'unusable', reason: `missing ${look.paths.join(', ')}` };
  const seen = look.kind === 'seen' ? look : null;
  const outs = await hashOuts(files, place);
  const verdict = judge({
    current: seen === null ? null : { key: seen.key, preimage: seen.preimage },
    records: seen === null ? [] : await recordsOf(item, files, { seen, recipe }),
    hasLockFile: lock.existed,
    outs: files.outs.map(({ name, path }) => ({
      path: name,
      hash: outs.find((out) => out.path === path)?.hash ?? null,
    })),
    ...{ editable: false, frozen: stage.frozen, forced, invalidatedBy: null, missing: [], upstream: [] },
    due: asked.some(({ reason }) => reason === 'always-due' || reason === 'after-ran'),
    ...{ failure: null, nowMs: 0 },
  });
  if (verdict.verdict === 'waiting') return { kind: 'unusable', reason: frozenWithoutOutput(files) };
  if (verdict.verdict !== 'stale' || seen === null) return { kind: 'vouched', look: seen, outs };
  const told = asked.filter(({ reason }) => ['forced', 'invalidated', 'after-ran'].includes(reason));
  const reasons = (told.length > 0 ? told : verdict.reasons).map(explain);
  return { kind: 'stale', look: seen, outs, reasons };
}

export async function hashOuts(files: StateFiles, { machine }: Place): Promise<HashedOut[]> {
  const hashed: HashedOut[] = [];
  for (const { name, path, remote } of files.outs) {
    if (remote !== null) continue;
    const content = await machine.hasher.hashPathInSlices(path);
    if (content.kind === 'file') hashed.push({ name, path, hash: content.hash, size: content.size });
    if (content.kind === 'directory')
      hashed.push({ name, path, hash: content.hash, size: content.size, files: content.files });
  }
  return hashed;
}

async function recordsOf(
  item: Claimed,
  files: StateFiles,
  { seen, recipe }: { readonly seen: Seen; readonly recipe: RecipeOf },
): Promise<StateRecord[]> {
  const nameOf = new Map(files.outs.map(({ path, name }) => [path, name]));
  return Promise.all(
    item.records.map(async (record, i): Promise<StateRecord> => {
      // Only the newest is compared part by part, to say what is different.
      const made = i > 0 || record.recipe === null ? null : await recipe(record.recipe);
      const outs = (record.outs as PathHash[]).map(({ path, hash }) => ({
        path: nameOf.get(path) ?? path,
        hash,
      }));
      const preimage = made === null ? null : preimageOf(made, record.deps as PathHash[], seen);
      return { cacheKey: record.cache_key as Blake3, preimage, outs, skipped: record.skipped };
    }),
  );
}

function frozenWithoutOutput({ outs }: StateFiles): string {
  return `frozen, but ${outs.map(({ name }) => name).join(', ')} is not there; --force makes it`;
}
