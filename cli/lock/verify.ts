// Compares every output on disk with what the lock file says of it; everything is read again, nothing is remembered.

import { dirname, join, resolve } from 'node:path';
import { loadBlake3 } from '../../host/blake3.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { type Content, createPathHasher } from '../../host/path-hash.ts';
import { projectRootOf } from '../../host/project-root.ts';
import { StatCache } from '../../host/stat-cache.ts';
import type { LockedOut } from '../../schema/lock-file/shape.ts';
import type { EntityId } from '../../schema/words.ts';
import { type LoadedWorkflow, stemOf } from '../load-file.ts';
import type { LockRecords } from '../run/lock-records.ts';
import { nameOf } from '../run/results.ts';
import { differences, type FileDifference, keptTree, readTree, type TreeContext } from './trees.ts';

export interface VerifiedOut {
  readonly name: string;
  readonly entity: string;
  readonly path: string;
  readonly lock: string;
  /** Null if it is not there. */
  readonly local: string | null;
  readonly ok: boolean;
  /** What is different inside a directory; null if that is not known. */
  readonly files: readonly FileDifference[] | null;
  /** Files and bytes of the lock and of the disk, where the files themselves are not known. */
  readonly sizes: string | null;
  /** Why it could not be looked at. */
  readonly trouble: string | null;
}

export interface VerifiedStage {
  readonly stage: string;
  /** False if the lock file has nothing about it. */
  readonly isLocked: boolean;
  readonly outs: readonly VerifiedOut[];
}

export async function verifyOutputs(
  loaded: LoadedWorkflow,
  lock: LockRecords,
): Promise<readonly VerifiedStage[]> {
  const root = dirname(loaded.path);
  const own = join(projectRootOf(root), '.sluice');
  const context = contextFor(loaded, own);
  const entries = lock.entries();
  const verified: VerifiedStage[] = [];
  for (const stage of loaded.workflow.stages.filter(({ kind }) => kind !== 'source')) {
    const locked = entries.filter((entry) => entry.stage === stage.id);
    const outs: VerifiedOut[] = [];
    for (const { entity, state } of locked)
      for (const out of state.outs.filter(({ remote }) => remote === undefined)) {
        const found = await verifyOut(out, { root, own, context });
        outs.push({
          name: nameOf(stage, entity as EntityId),
          entity,
          path: out.path,
          lock: out.hash,
          ...found,
        });
      }
    verified.push({ stage: stage.id, isLocked: locked.length > 0, outs });
  }
  return verified;
}

/** The rule of the runs, and a cache that knows nothing: bytes that changed without a trace are to be found. */
export function contextFor({ workflow, path }: LoadedWorkflow, own: string, cache = 'none'): TreeContext {
  const blake3 = loadBlake3();
  const stem = stemOf(path);
  const ignore = ignoreRule([...workflow.watch.ignore, `${stem}.lock.yaml`, `${stem}.events.jsonl`]);
  const stats = new StatCache({ path: join(own, cache), hash: blake3.hash, nowMs: Date.now });
  return { ignore, hasher: createPathHasher({ blake3, cache: stats, nowMs: Date.now, ignore }) };
}

interface Around {
  readonly root: string;
  readonly own: string;
  readonly context: TreeContext;
}

async function verifyOut(
  out: LockedOut,
  { root, own, context }: Around,
): Promise<Pick<VerifiedOut, 'local' | 'ok' | 'files' | 'sizes' | 'trouble'>> {
  const path = resolve(root, out.path);
  const content = await context.hasher.hashPathInSlices(path);
  if (content.kind === 'unreadable')
    return {
      local: null,
      ok: false,
      files: null,
      sizes: null,
      trouble: `${content.path}: ${content.reason}`,
    };
  const local = content.kind === 'missing' ? null : content.hash;
  const ok = local === out.hash;
  const before = ok || content.kind !== 'directory' ? null : keptTree(own, path);
  const now = before?.hash === out.hash ? readTree(path, context) : null;
  const files = before === null || now === null ? null : differences(before, now);
  const sizes = ok || files !== null ? null : sizesOf(out, content);
  return { local, ok, files, sizes, trouble: null };
}

function sizesOf({ file_count, total_bytes }: LockedOut, content: Content): string | null {
  if (content.kind !== 'directory' || file_count === undefined) return null;
  return `lock: ${file_count} files, ${total_bytes ?? '?'} bytes; local: ${content.files} files, ${content.size} bytes`;
}
