// What stands at the places of a state's outputs, hashed, and whether it is what the stage promised.

import { statSync } from 'node:fs';
import type { PathHasher } from '../host/path-hash.ts';
import type { StateRecord } from '../schema/verdict.ts';
import type { Blake3 } from '../schema/words.ts';
import type { Workflow } from '../schema/workflow.ts';
import type { PreparedOut } from './outputs.ts';
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
  return firstOf(hashed, (out) => belowValidation(stage, out));
}

/**
 * Asked before anything is renamed: what is too small never stands where somebody reads, another workflow for
 * instance, and what stood there stays. A directory is made in its place, so it is looked at only afterwards.
 */
export function checkBeforePlacing(
  states: readonly StateFiles[],
  prepared: readonly PreparedOut[],
  { workflow }: { readonly workflow: Workflow },
): string | null {
  if (workflow.policy.validation === 'none') return null;
  const { stage } = states[0]!;
  const outs = states.flatMap((files) => files.outs);
  return firstOf(prepared, ({ path, writeTo }) => {
    const made = statSync(writeTo, { throwIfNoEntry: false });
    const { name } = outs.find((out) => out.path === path)!;
    return made?.isFile() ? belowValidation(stage, { name, size: made.size }) : null;
  });
}

function belowValidation(
  { validation: { minSize, minFiles } }: StateFiles['stage'],
  { name, size, files = 1 }: Pick<HashedOut, 'name' | 'size' | 'files'>,
): string | null {
  if (minSize !== null && size < minSize)
    return `${name} has ${size} bytes, fewer than validation.minSize ${minSize}`;
  if (minFiles !== null && files < minFiles)
    return `${name} has ${files} files, fewer than validation.minFiles ${minFiles}`;
  return null;
}

function firstOf<Each>(all: readonly Each[], problemOf: (each: Each) => string | null): string | null {
  for (const each of all) {
    const problem = problemOf(each);
    if (problem !== null) return problem;
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
