// What a state would be made of right now: every input hashed, and the key that follows.

import { resolve } from 'node:path';
import type { PathHasher } from '../host/path-hash.ts';
import { type HashBytes, hashValue } from '../schema/blake3.ts';
import { computeKey, hashMembers, type Key, type PathHash, type Preimage } from '../schema/key.ts';
import type { Blake3, Json } from '../schema/words.ts';
import type { Action, Workflow } from '../schema/workflow.ts';
import { nodeVersion } from './nodes/table.ts';
import { memberName, type StateFiles } from './state-files.ts';

export interface LookContext {
  readonly workflow: Workflow;
  readonly root: string;
  readonly hash: HashBytes;
  readonly hasher: PathHasher;
  /** The value of a secret; undefined if nobody has set it. */
  readonly secretOf: (name: string) => string | undefined;
}

export interface SeenState {
  readonly kind: 'seen';
  readonly key: Key;
  readonly preimage: Preimage;
  /** At absolute paths: what was read. */
  readonly consumed: readonly PathHash[];
}

export type StateLook =
  | SeenState
  | { readonly kind: 'missing'; readonly paths: readonly string[] }
  | { readonly kind: 'unreadable'; readonly reason: string };

export async function lookAtState(files: StateFiles, context: LookContext): Promise<StateLook> {
  const missing: string[] = [];
  const consumed: PathHash[] = [];
  const deps: PathHash[] = [];
  const code: PathHash[] = [];
  const read = async (path: string): Promise<Blake3 | { readonly reason: string } | null> => {
    const content = await context.hasher.hashPathInSlices(path);
    if (content.kind === 'unreadable') return { reason: `${content.path}: ${content.reason}` };
    if (content.kind === 'missing') {
      missing.push(path);
      return null;
    }
    consumed.push({ path, hash: content.hash });
    return content.hash;
  };
  for (const { name, collected, paths } of files.inputs) {
    const members: PathHash[] = [];
    for (const path of paths) {
      const hash = await read(path);
      if (typeof hash === 'object' && hash !== null) return { kind: 'unreadable', reason: hash.reason };
      if (hash !== null) members.push({ path: memberName(name, path, context.root), hash });
    }
    if (collected && paths.length === 0) missing.push(name);
    if (members.length > 0)
      deps.push({ path: name, hash: collected ? hashMembers(context.hash, members) : members[0]!.hash });
  }
  for (const path of files.stage.code) {
    const hash = await read(resolve(context.root, path));
    if (typeof hash === 'object' && hash !== null) return { kind: 'unreadable', reason: hash.reason };
    if (hash !== null) code.push({ path, hash });
  }
  if (missing.length > 0) return { kind: 'missing', paths: missing };
  const { params: values } = context.workflow;
  const unset = files.stage.secrets.find((name) => context.secretOf(name) === undefined);
  if (unset !== undefined) return { kind: 'unreadable', reason: secretNotSet(unset) };
  const params = {
    ...Object.fromEntries(files.stage.params.map((name) => [name, values[name]!])),
    ...digestsOf(files.stage.secrets, context),
  };
  const preimage: Preimage = { action: versioned(files.stage.action), code, params, deps };
  return { kind: 'seen', key: computeKey(context.hash, preimage), preimage, consumed };
}

export function secretNotSet(name: string): string {
  return `the secret ${name} is not set; put it into the environment or into the file of --secrets`;
}

/** What a secret is called beside the params. */
export function secretName(name: string): string {
  return `secret ${name}`;
}

/** Another value is another key, and nobody can read it there. */
function digestsOf(names: readonly string[], { hash, secretOf }: LookContext): Record<string, Json> {
  return Object.fromEntries(
    names.map((name) => [secretName(name), hashValue(hash, 'secret', [name, secretOf(name)!])]),
  );
}

/** A node's own version is part of its code: the same data may give another out under a newer one (SEMANTICS 2). */
function versioned(action: Action): Action {
  if (action.kind !== 'node') return action;
  const versions = [action.node, action.whenTrue].map((node) =>
    node === null ? null : nodeVersion(node.typeId),
  );
  return { ...action, versions } as Action & { readonly versions: Json };
}
