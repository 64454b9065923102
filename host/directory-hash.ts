// The hash of a directory, node by node: what did not change is neither read nor hashed again.
//
// A node is remembered under the directory's own stamp. It holds while each of its entries is vouched for by a
// cache entry older than the node. An edit that was noticed by way of another path made a younger one.

import { hashDirectory, type TreeEntry } from '../schema/key.ts';
import { type Blake3, unreachable } from '../schema/words.ts';
import type { Stamp } from './disk.ts';
import {
  failed,
  hashFile,
  hashLink,
  type Look,
  type Missing,
  notAFile,
  stampOf,
  type Unreadable,
} from './file-hash.ts';
import { listDirectory, NOT_UTF8 } from './path-bytes.ts';
import { ENTRY_COST, type Slice, type Sliced } from './slices.ts';
import { NONE, type Slot } from './stat-cache.ts';

export interface DirectoryContent {
  readonly kind: 'directory';
  readonly hash: Blake3;
  /** Files and links at every depth. */
  readonly files: number;
  /** Of the files' bytes. */
  readonly size: number;
  /** The cache entry of this content; NONE if it is not remembered. */
  readonly slot: Slot;
}

type Failure = Missing | Unreadable;

export function* hashTree(
  look: Look,
  path: string,
  stamp: Stamp,
  slice: Slice,
): Sliced<DirectoryContent | Failure> {
  const lookedAtMs = look.nowMs();
  const names = namesIn(look, path);
  if ('kind' in names) return names;
  const entries: SeenEntry[] = [];
  let [files, size] = [0, 0];
  for (const name of names) {
    if (slice.spend(ENTRY_COST)) yield;
    const content = yield* hashInside(look, path === '/' ? `/${name}` : `${path}/${name}`, slice);
    if (content.kind === 'unreadable') return content;
    // Gone since it was listed: the directory is without it now.
    if (content.kind === 'missing') continue;
    const { kind, hash, slot } = content;
    entries.push({ name, kind, hash, slot, order: slot === NONE ? 0 : look.cache.orderAt(slot) });
    files += kind === 'directory' ? content.files : 1;
    size += content.size;
  }
  return { kind: 'directory', ...hashNode(look, path, { stamp, entries, lookedAtMs }), files, size };
}

function namesIn(look: Look, path: string): string[] | Failure {
  try {
    const { entries, unusable } = listDirectory(look.disk, path);
    const odd = unusable.find(({ lossy }) => !look.ignore.ignores(lossy));
    if (odd) return { kind: 'unreadable', path: `${path}/${odd.shown}`, reason: NOT_UTF8 };
    return entries.map(({ name }) => name).filter((name) => !look.ignore.ignores(name));
  } catch (error) {
    return failed(path, error);
  }
}

function* hashInside(look: Look, path: string, slice: Slice) {
  const stamp = stampOf(path, () => look.disk.lstat(path));
  switch (stamp.kind) {
    case 'file':
      return yield* hashFile(look, path, stamp, slice);
    case 'link':
      return hashLink(look, path, stamp);
    case 'directory':
      return yield* hashTree(look, path, stamp, slice);
    case 'other':
      return notAFile(path);
    case 'missing':
    case 'unreadable':
      return stamp;
    default:
      return unreachable(stamp);
  }
}

interface SeenEntry extends TreeEntry {
  readonly slot: Slot;
  /** Of the slot when the entry was seen; another task may have looked again during a pause. */
  readonly order: number;
}

interface SeenNode {
  readonly stamp: Stamp;
  readonly entries: readonly SeenEntry[];
  readonly lookedAtMs: number;
}

function hashNode(
  { cache, blake3, ignore }: Look,
  path: string,
  node: SeenNode,
): { hash: Blake3; slot: Slot } {
  const key = `${path}\0/${ignore.id}`;
  // The size a directory has by itself says nothing. The number of entries notices what the directory's
  // stamp should have told, on file systems that do not keep it.
  const stamp = { ...node.stamp, size: node.entries.length };
  const vouched = node.entries.every(({ slot, order }) => slot !== NONE && cache.orderAt(slot) === order);
  const known = cache.find(key, stamp);
  if (vouched && known !== NONE && node.entries.every(({ order }) => order < cache.orderAt(known)))
    return { hash: cache.hashAt(known), slot: known };
  const hash = hashDirectory(blake3.hash, node.entries);
  return { hash, slot: vouched ? cache.remember(key, stamp, hash, node.lookedAtMs) : NONE };
}
