// Which file systems keep what happens on them to themselves: there only looking again and again tells.

import { rmSync, statfsSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DISK } from '../host/disk.ts';

export interface Probes {
  /** By the number in statfs(2); null if the system does not say. */
  readonly typeOf: (directory: string) => number | null;
  /** Makes something happen in the directory: whether it was heard of. Null if nothing can be made there. */
  readonly hears: (directory: string) => Promise<boolean | null>;
}

export interface Silent {
  readonly directory: string;
  readonly reason: string;
}

/** One directory of each device is asked. */
export async function silentPlaces(
  directories: readonly string[],
  probes: Probes = PROBES,
): Promise<readonly Silent[]> {
  const byDevice = new Map<bigint, string>();
  for (const directory of directories) {
    const device = deviceOf(directory);
    if (device !== null && !byDevice.has(device)) byDevice.set(device, directory);
  }
  const found = await Promise.all(
    [...byDevice.values()].map(async (directory) => ({
      directory,
      reason: await whySilent(directory, probes),
    })),
  );
  return found.flatMap(({ directory, reason }) => (reason === null ? [] : [{ directory, reason }]));
}

async function whySilent(directory: string, { typeOf, hears }: Probes): Promise<string | null> {
  const shared = SHARED.get(typeOf(directory) ?? 0);
  if (shared !== undefined) return `${shared} does not tell what other machines change`;
  return (await hears(directory)) === false ? 'its file system sends no events' : null;
}

/** From linux/magic.h and the file systems' own sources. */
const SHARED: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
]);

/** An event takes well under a millisecond; on a machine that is busy it may wait for its turn. */
const PATIENCE_MS = 2_000;

const PROBES: Probes = {
  typeOf: (directory) => {
    try {
      return Number(BigInt.asUintN(32, BigInt(statfsSync(directory).type)));
    } catch {
      return null;
    }
  },
  hears: (directory) =>
    new Promise((resolve) => {
      const name = `.sluice-probe-${process.pid}`;
      let end = (_: boolean | null) => {};
      try {
        const watcher = watch(directory, (_, happened) => happened === name && end(true));
        const late = setTimeout(() => end(false), PATIENCE_MS);
        end = (heard) => {
          clearTimeout(late);
          watcher.close();
          resolve(heard);
        };
        watcher.on('error', () => end(null));
        writeFileSync(join(directory, name), '');
        rmSync(join(directory, name), { force: true });
      } catch {
        end(null);
        resolve(null);
      }
    }),
};

function deviceOf(directory: string): bigint | null {
  try {
    return DISK.stat(directory)?.dev ?? null;
  } catch {
    return null;
  }
}
