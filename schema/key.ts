// Keys: what a state was made of, hashed in three parts, with the preimage kept so that a difference has a name.

import { type HashBytes, hashValue } from './blake3.ts';
import { compareCodePoints } from './canonical.ts';
import type { Blake3, Json } from './words.ts';
import type { Action } from './workflow.ts';

export interface PathHash {
  /** As written in the workflow file. */
  readonly path: string;
  readonly hash: Blake3;
}

/** All that enters a key (SEMANTICS 2): no root, work dir, attempt, host or clock. */
export interface Preimage {
  readonly action: Action;
  readonly code: readonly PathHash[];
  /** Declared or referenced params; a secret's value is its digest. */
  readonly params: Readonly<Record<string, Json>>;
  /** In file order, because `{{deps[0]}}` means another file when the order changes. */
  readonly deps: readonly PathHash[];
}

export interface Key {
  readonly cmdHash: Blake3;
  readonly paramsHash: Blake3;
  readonly depsHash: Blake3;
  readonly cacheKey: Blake3;
}

export function computeKey(hash: HashBytes, preimage: Preimage): Key {
  const cmdHash = hashValue(hash, 'cmd', {
    action: preimage.action as unknown as Json,
    code: pairs(preimage.code),
  });
  const paramsHash = hashValue(hash, 'params', preimage.params);
  const depsHash = hashValue(hash, 'deps', pairs(preimage.deps));
  const cacheKey = hashValue(hash, 'key', [cmdHash, depsHash, paramsHash]);
  return { cmdHash, paramsHash, depsHash, cacheKey };
}

export type KeyChange =
  | { readonly change: 'cmd' }
  | {
      readonly change: 'code';
      readonly path: string;
      readonly old: Blake3 | null;
      readonly now: Blake3 | null;
    }
  | {
      readonly change: 'param';
      readonly name: string;
      readonly old: Json | undefined;
      readonly now: Json | undefined;
    }
  | {
      readonly change: 'dep';
      readonly path: string;
      readonly old: Blake3 | null;
      readonly now: Blake3 | null;
    }
  | { readonly change: 'deps-order' };

/** Every difference between two preimages, named; empty exactly if their keys are equal. */
export function comparePreimages(old: Preimage, now: Preimage): KeyChange[] {
  const changes: KeyChange[] = [];
  if (!sameJson(old.action as unknown as Json, now.action as unknown as Json))
    changes.push({ change: 'cmd' });
  for (const [path, was, is] of differences(old.code, now.code))
    changes.push({ change: 'code', path, old: was, now: is });
  const names = [...new Set([...Object.keys(old.params), ...Object.keys(now.params)])].sort(
    compareCodePoints,
  );
  for (const name of names) {
    const [was, is] = [own(old.params, name), own(now.params, name)];
    if (was === undefined || is === undefined || !sameJson(was, is))
      changes.push({ change: 'param', name, old: was, now: is });
  }
  const deps = differences(old.deps, now.deps);
  for (const [path, was, is] of deps) changes.push({ change: 'dep', path, old: was, now: is });
  if (deps.length === 0 && !sameJson(pairs(old.deps), pairs(now.deps)))
    changes.push({ change: 'deps-order' });
  const told = changes.some(({ change }) => change === 'code' || change === 'cmd');
  if (!told && !sameJson(pairs(old.code), pairs(now.code))) changes.push({ change: 'cmd' });
  return changes;
}

/** A param may be called `constructor`; what every object inherits is not its value. */
function own(params: Preimage['params'], name: string): Json | undefined {
  return Object.hasOwn(params, name) ? params[name] : undefined;
}

export interface TreeEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link';
  /** Of the content; of a link, of its target's text. */
  readonly hash: Blake3;
}

/** A directory by its entries, one node at a time, so that one added file does not rehash its neighbours' trees. */
export function hashDirectory(hash: HashBytes, entries: readonly TreeEntry[]): Blake3 {
  const sorted = [...entries].sort((a, b) => compareCodePoints(a.name, b.name));
  return hashValue(
    hash,
    'directory',
    sorted.map((entry) => [entry.name, entry.kind, entry.hash]),
  );
}

/** The members of a collected dep as one hash. */
export function hashMembers(hash: HashBytes, members: readonly PathHash[]): Blake3 {
  const sorted = [...members].sort((a, b) => compareCodePoints(a.path, b.path));
  return hashValue(hash, 'members', pairs(sorted));
}

function pairs(list: readonly PathHash[]): Json {
  return list.map(({ path, hash }) => [path, hash]);
}

/** One entry per path whose hash differs; of a path listed twice, the last occurrence counts. */
function differences(
  old: readonly PathHash[],
  now: readonly PathHash[],
): [string, Blake3 | null, Blake3 | null][] {
  const before = new Map(old.map(({ path, hash }) => [path, hash]));
  const after = new Map(now.map(({ path, hash }) => [path, hash]));
  const found: [string, Blake3 | null, Blake3 | null][] = [];
  for (const [path, hash] of after)
    if (before.get(path) !== hash) found.push([path, before.get(path) ?? null, hash]);
  for (const [path, hash] of before) if (!after.has(path)) found.push([path, hash, null]);
  return found;
}

/** Equality of values, whatever the order of their keys. */
function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, Json>, b as Record<string, Json>];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key]!, right[key]!))
  );
}
