// What the directory of a fan-out says of itself: read where the database knows nothing, added to with each result.

import { fanOutOutput } from '../schema/discovery/fan-out.ts';
import type { StateRecord } from '../schema/verdict.ts';
import type { HashedOut } from './hash-outs.ts';
import type { SeenState } from './look-at-state.ts';
import type { ManifestLine, Manifests } from './manifest.ts';
import type { StateFiles } from './state-files.ts';

/** For when the database is gone: the directory still tells what was made under which key. */
export function recordsInManifest(files: StateFiles, manifests: Manifests): StateRecord[] {
  const directory = fanOutDirectory(files);
  const line = directory === null ? undefined : manifests.find(directory, files.inputs[0]!.name);
  if (line === undefined || line.output !== files.outs[0]!.name) return [];
  const outs = [{ path: line.output, hash: line.output_hash }];
  return [{ cacheKey: line.cache_key, preimage: null, outs, skipped: false }];
}

export function noteInManifest(
  files: StateFiles,
  { key, consumed }: SeenState,
  outs: readonly HashedOut[],
  manifests: Manifests,
): void {
  const directory = fanOutDirectory(files);
  const [input] = files.inputs;
  const input_hash = consumed.find(({ path }) => path === input?.paths[0])?.hash;
  if (directory === null || input_hash === undefined) return;
  const line: ManifestLine = {
    ...{ input: input!.name, output: outs[0]!.name, input_hash, output_hash: outs[0]!.hash },
    ...{ cache_key: key.cacheKey, completed_at: new Date().toISOString() },
  };
  manifests.add(directory, line);
}

/** Null for what is no fan-out, or has outs that a line would not speak of. */
function fanOutDirectory({ stage, entity, outs }: StateFiles): string | null {
  if (stage.fanOut === null || outs.length !== 1 || outs[0]!.remote !== null) return null;
  return outs[0]!.path.slice(0, -fanOutOutput(stage, entity).length);
}
