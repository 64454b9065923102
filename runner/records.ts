// What was recorded of a state before, in the shape that a verdict is reached by.

import { type HashBytes, hashValue } from '../schema/blake3.ts';
import type { Key, PathHash, Preimage } from '../schema/key.ts';
import type { StateRecord } from '../schema/verdict.ts';
import type { Claimed } from '../schema/wire.ts';
import type { Blake3, Json } from '../schema/words.ts';
import type { SeenState } from './look-at-state.ts';
import type { StateFiles } from './state-files.ts';

/** The part of a record's preimage that the entities of a stage share. */
export interface RecordedRecipe {
  readonly cmd_hash: Blake3;
  readonly code: readonly PathHash[];
  readonly params: Readonly<Record<string, Json>>;
}

export type RecipeOf = (hash: string) => Promise<RecordedRecipe | null>;

export async function recordsOf(
  item: Claimed,
  files: StateFiles,
  { look, recipe }: { readonly look: SeenState; readonly recipe: RecipeOf },
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
      const preimage = made === null ? null : preimageOf(made, record.deps as PathHash[], look);
      return { cacheKey: record.cache_key as Blake3, preimage, outs, skipped: record.skipped };
    }),
  );
}

/** Only the command's hash is kept, not its text: where that is equal, the text was the present one. */
export function preimageOf(
  recipe: RecordedRecipe,
  deps: readonly PathHash[],
  { key, preimage }: SeenState,
): Preimage {
  const sameCode = JSON.stringify(recipe.code) === JSON.stringify(preimage.code);
  const sameAction = recipe.cmd_hash === key.cmdHash || !sameCode;
  return {
    action: sameAction ? preimage.action : { kind: 'none' },
    code: recipe.code,
    params: recipe.params,
    deps,
  };
}

export function recipeOf(
  hash: HashBytes,
  key: Key,
  preimage: Preimage,
): { readonly hash: Blake3; readonly body: RecordedRecipe } {
  const body: RecordedRecipe = { cmd_hash: key.cmdHash, code: preimage.code, params: preimage.params };
  return { hash: hashValue(hash, 'recipe', body as unknown as Json), body };
}
