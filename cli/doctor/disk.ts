// Room where states are kept and made, and whether the file system there tells of changes.

import { accessSync, constants, type StatsFs, statfsSync, statSync } from 'node:fs';
import { type Finding, fail, ok, warn } from './finding.ts';

export type Room = Pick<StatsFs, 'type' | 'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree'>;

const GB = 1e9;
const SCARCE_BYTES = GB;
const NONE_BYTES = 0.1 * GB;
const SCARCE_INODES = 10_000;

/** One file system is told once, at the first place on it. */
export function checkDisks(places: readonly string[]): Finding[] {
  const devices = new Map(places.toReversed().map((place) => [statSync(place).dev, place]));
  return [...devices.values()].toReversed().flatMap(checkDisk);
}

function checkDisk(place: string): Finding[] {
  try {
    accessSync(place, constants.W_OK);
  } catch {
    return [fail('disk', `${place} cannot be written`, 'give this user write permission there')];
  }
  return judgeRoom(place, statfsSync(place));
}

export function judgeRoom(place: string, room: Room): Finding[] {
  const free = room.bavail * room.bsize;
  const fact = `${(free / GB).toFixed(1)} GB free of ${((room.blocks * room.bsize) / GB).toFixed(1)} GB at ${place}`;
  const remedy = 'free some space: `sluice clean FILE` removes work directories of what is settled';
  const silent = SILENT[room.type];
  return [
    free < NONE_BYTES
      ? fail('disk', fact, remedy)
      : free < SCARCE_BYTES
        ? warn('disk', fact, remedy)
        : // Some file systems do not count inodes, and say 0 of 0.
          room.files > 0 && room.ffree < SCARCE_INODES
          ? warn('disk', `${fact}, but only ${room.ffree} more files fit`, 'remove files that are not needed')
          : ok('disk', fact),
    ...(silent === undefined
      ? []
      : [
          warn(
            'events',
            `${place} is on ${silent}, which does not tell of changes made elsewhere`,
            'write `watch: {poll: true}` into workflows there',
          ),
        ]),
  ];
}

/** By the numbers of statfs(2). */
const SILENT: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
  16914839: '9P',
  1702057286: 'FUSE',
};
