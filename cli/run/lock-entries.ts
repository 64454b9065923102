// Between lock-file entries and the control plane's records: both say what was made under which key (SEMANTICS 1).

import { resolve } from 'node:path';
import { answerOf, type Client } from '../../host/client.ts';
import type { HashedOut } from '../../runner/hash-outs.ts';
import { secretName } from '../../runner/look-at-state.ts';
import { type RecordedRecipe, recipeOf } from '../../runner/records.ts';
import { type HashBytes, hashValue } from '../../schema/blake3.ts';
import { pathId } from '../../schema/discovery/place.ts';
import { computeKey, type Key, type Preimage } from '../../schema/key.ts';
import type { Recipe, StateLock } from '../../schema/lock-file/shape.ts';
import type { Blake3, Json } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { LockEntry } from './lock-records.ts';

/** The body limit of one request is far above this many. */
const AT_ONCE = 1_000;

export interface ImportContext {
  readonly client: Client;
  readonly workflow: string;
  readonly root: string;
  readonly hash: HashBytes;
}

export async function importEntries(entries: readonly LockEntry[], context: ImportContext): Promise<void> {
  const { client, workflow } = context;
  for (let from = 0; from < entries.length; from += AT_ONCE) {
    const recipes: Record<string, RecordedRecipe> = {};
    const records = entries.slice(from, from + AT_ONCE).map((entry) => {
      const record = recordOf(entry, context);
      recipes[record.recipe] = bodyOf(entry.recipe);
      return { ...record, stage: entry.stage, entity: entry.entity };
    });
    const to = client.api.workflows[':name{[^]+}'].records;
    await answerOf(to.$post({ param: { name: encodeURIComponent(workflow) }, json: { recipes, records } }));
  }
}

/** As the control plane keeps it, and a claim brings it along. */
export function recordOf({ state, recipe }: LockEntry, { root, hash }: Pick<ImportContext, 'root' | 'hash'>) {
  return {
    ...{ cache_key: state.cache_key, skipped: state.status === 'skipped' },
    recipe: hashValue(hash, 'recipe', bodyOf(recipe) as unknown as Json),
    deps: state.deps.map(({ path, hash: content }) => ({ path, hash: content })),
    outs: state.outs.map((out) => ({
      path: pathId(resolve(root, out.path)),
      hash: out.hash,
      size: out.total_bytes ?? 0,
    })),
  };
}

function bodyOf(recipe: Recipe): RecordedRecipe {
  const params = [...recipe.params].map(([name, param]) => [
    name,
    'value' in param ? param.value : param.secret,
  ]);
  return { cmd_hash: recipe.cmd_hash, code: recipe.code, params: Object.fromEntries(params) };
}

export interface EntryParts {
  readonly stage: Stage;
  readonly key: Key;
  readonly preimage: Preimage;
  readonly outs: readonly HashedOut[];
  readonly skipped: boolean;
  readonly retries: number;
  readonly endedMs: number;
  readonly seconds: number;
}

/** What the lock file says of a state that was just made. */
export function entryOf(parts: EntryParts): { readonly state: StateLock; readonly recipe: Recipe } {
  const { stage, key, preimage, outs, skipped, retries, endedMs, seconds } = parts;
  const recipe: Recipe = {
    target: stage.target,
    params_hash: key.paramsHash,
    params: new Map(
      Object.entries(preimage.params).map(([name, value]) => [
        name,
        stage.secrets.some((secret) => secretName(secret) === name) ? { secret: value as Blake3 } : { value },
      ]),
    ),
    cmd_hash: key.cmdHash,
    code: [...preimage.code],
  };
  const state: StateLock = {
    status: skipped ? 'skipped' : 'completed',
    started_at: new Date(endedMs - seconds * 1_000).toISOString(),
    completed_at: new Date(endedMs).toISOString(),
    duration_seconds: seconds,
    deps: [...preimage.deps],
    outs: outs.map(({ name, hash, size, files }) => ({
      ...{ path: name, hash },
      ...(files === undefined ? {} : { file_count: files }),
      total_bytes: size,
    })),
    deps_hash: key.depsHash,
    cache_key: key.cacheKey,
    ...(retries > 0 ? { retries } : {}),
  };
  return { state, recipe };
}

export interface RecordParts {
  readonly stage: Stage;
  readonly recipe: RecordedRecipe;
  readonly deps: readonly { readonly path: string; readonly hash: string }[];
  readonly outs: readonly {
    readonly name: string;
    readonly path: string;
    readonly hash: string;
    readonly size: number;
  }[];
  readonly cacheKey: string;
  readonly skipped: boolean;
  readonly producedMs: number;
}

/** The same from a record, for a state that was made before this run. */
export function entryFromRecord(
  hash: HashBytes,
  parts: RecordParts,
): { readonly state: StateLock; readonly recipe: Recipe } {
  const { stage, recipe, deps, outs, skipped, producedMs } = parts;
  const preimage: Preimage = {
    action: { kind: 'none' },
    code: recipe.code,
    params: recipe.params,
    deps: deps as Preimage['deps'],
  };
  const computed = computeKey(hash, preimage);
  const key: Key = { ...computed, cmdHash: recipe.cmd_hash, cacheKey: parts.cacheKey as Blake3 };
  return entryOf({
    ...{ stage, key, preimage, skipped, retries: 0, endedMs: producedMs, seconds: 0 },
    outs: outs.map((out) => ({ ...out, hash: out.hash as Blake3 })),
  });
}

export { recipeOf };
