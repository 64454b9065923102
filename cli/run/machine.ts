// What a run uses of this machine: hashing with its memory, the supervisor, and where things are kept.

import { join, relative } from 'node:path';
import { type Blake3Implementation, loadBlake3 } from '../../host/blake3.ts';
import { DISK, type Disk, type Stamp } from '../../host/disk.ts';
import { type IgnoreRule, ignoreRule } from '../../host/ignore.ts';
import { LookRecord } from '../../host/look-record.ts';
import { createPathHasher, type PathHasher } from '../../host/path-hash.ts';
import { NONE, StatCache } from '../../host/stat-cache.ts';
import { openJournal } from '../../runner/journal.ts';
import { endLeftovers } from '../../runner/leftovers.ts';
import { createSupervisor, type Supervisor } from '../../runner/supervisor.ts';
import type { HashBytes } from '../../schema/blake3.ts';
import type { Pattern } from '../../schema/pattern.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { scan } from '../../watcher/scan.ts';
import { stemOf } from '../load-file.ts';
import type { SecretOf } from '../secrets.ts';

export interface Machine {
  readonly blake3: Blake3Implementation;
  readonly hash: HashBytes;
  /** Every look that is taken, until something more than looking is done. */
  readonly looks: LookRecord;
  readonly disk: Disk;
  readonly hasher: PathHasher;
  readonly ignore: IgnoreRule;
  readonly supervisor: Supervisor;
  /** Of the content that a file is known to have under this stamp. */
  readonly digestOf: (path: string, stamp: Stamp) => Uint8Array | null;
  readonly secretOf: SecretOf;
  /** Absolute paths that match an absolute pattern. */
  readonly list: (pattern: Pattern) => readonly string[];
  close(): Promise<void>;
}

export interface MachinePlace {
  readonly workflow: Workflow;
  /** Of the workflow file. */
  readonly path: string;
  readonly root: string;
  /** `.sluice/` of the project. */
  readonly own: string;
  readonly secretOf: SecretOf;
  /** Of everything that was ever hashed here; without it little is read at the start, and nothing kept at the end. */
  readonly hasMemory?: boolean;
  /** The real one, unless somebody wants to know what is looked at. */
  readonly disk?: Disk;
}

/** What all workflows of a project share on this machine. */
export interface MachineBase {
  readonly blake3: Blake3Implementation;
  readonly cache: StatCache;
  readonly supervisor: Supervisor;
  readonly secretOf: SecretOf;
  close(): Promise<void>;
}

export async function openMachine(place: MachinePlace): Promise<Machine> {
  const base = await openMachineBase(place.own, place.secretOf, place.hasMemory);
  return { ...machineFor(base, place), close: () => base.close() };
}

/** Ends what a dead owner left running, before anything is started. */
export async function openMachineBase(
  own: string,
  secretOf: SecretOf,
  hasMemory = true,
): Promise<MachineBase> {
  const blake3 = loadBlake3();
  const path = hasMemory ? join(own, 'stat-cache') : null;
  const cache = new StatCache({ path, hash: blake3.hash, nowMs: Date.now });
  const file = join(own, 'journal');
  await endLeftovers(file);
  const journal = openJournal(file);
  const supervisor = createSupervisor(journal);
  const close = async () => {
    cache.save();
    await supervisor.close();
    journal.close();
  };
  return { blake3, cache, supervisor, secretOf, close };
}

export function machineFor(
  { blake3, cache, supervisor, secretOf }: MachineBase,
  { workflow, path, root, disk = DISK }: Omit<MachinePlace, 'own' | 'secretOf'>,
): Omit<Machine, 'close'> {
  // The files that every run writes beside the workflow must not make a dep on `./` stale.
  const beside = [`${stemOf(path)}.lock.yaml`, `${stemOf(path)}.events.jsonl`];
  const ignore = ignoreRule([...workflow.watch.ignore, ...beside]);
  const looks = new LookRecord(disk, blake3.hash);
  const hasher = createPathHasher({ blake3, cache, nowMs: Date.now, ignore, disk: looks.disk });
  return {
    ...{ blake3, hash: blake3.hash, looks, disk: looks.disk, hasher, ignore, supervisor, secretOf },
    digestOf: (known, stamp) => {
      const slot = stamp.kind === 'file' ? cache.find(known, stamp) : NONE;
      return slot === NONE ? null : cache.digestAt(slot);
    },
    list: (pattern) => scan({ patterns: [pattern], root, ignore }).found.map(({ path: found }) => found),
  };
}

/** A file name of its own for each workflow of a project. */
export function fileNameFor(project: string, path: string): string {
  return encodeURIComponent(relative(project, path));
}
