// What stands at the places of a state's outputs, hashed, and whether it is what the stage promised.

import type { PathHasher } from '../host/path-hash.ts';
import type { StateRecord } from '../schema/verdict.ts';
import type { Blake3 } from '../schema/words.ts';
import type { Workflow } from '../schema/workflow.ts';
import type { StateFiles } from './state-files.ts';

export interface HashedOut {
  readonly name: string;
  readonly path: string;
  readonly hash: Blake3;
  readonly size: number;
  readonly files?: number;
}

export async function hashOuts(
  files: StateFiles,
  { hasher }: { readonly hasher: PathHasher },
): Promise<HashedOut[]> {
  const hashed: HashedOut[] = [];
  for (const { name, path, remote } of files.outs) {
    if (remote !== null) continue;
    const content = await hasher.hashPathInSlices(path);
    if (content.kind === 'file') hashed.push({ name, path, hash: content.hash, size: content.size });
    if (content.kind === 'directory')
      hashed.push({ name, path, hash: content.hash, size: content.size, files: content.files });
  }
  return hashed;
}

/** `validation` of a pipeline; a declared output that is not there was found out when it was to be put in place. */
export function checkOutputs(
  { stage, outs }: StateFiles,
  hashed: readonly HashedOut[],
  { workflow }: { readonly workflow: Workflow },
): string | null {
  const here = outs.filter(({ remote }) => remote === null);
  const unhashed = here.find(({ path }) => !hashed.some((out) => out.path === path));
  if (unhashed !== undefined) return `did not make ${unhashed.name}, or made something that cannot be read`;
  if (workflow.policy.validation === 'none') return null;
  const { minSize, minFiles } = stage.validation;
  for (const { name, size, files } of hashed) {
    if (minSize !== null && size < minSize)
      return `${name} has ${size} bytes, fewer than validation.minSize ${minSize}`;
    if (minFiles !== null && (files ?? 1) < minFiles)
      return `${name} has ${files ?? 1} files, fewer than validation.minFiles ${minFiles}`;
  }
  return null;
}

export function differing(
  { stage }: StateFiles,
  outs: readonly HashedOut[],
  before: StateRecord | undefined,
): string[] {
  if (before === undefined || !stage.deterministic) return [];
  return outs.flatMap(({ name, hash }) => {
    const old = before.outs.find(({ path }) => path === name)?.hash;
    if (old === undefined || old === hash) return [];
    return [
      `stage '${stage.id}' is marked deterministic but made other bytes of ${name} from the same inputs: ` +
        `${old.slice(0, 15)} → ${hash.slice(0, 15)}; set deterministic: false, or mend the command`,
    ];
  });
}
