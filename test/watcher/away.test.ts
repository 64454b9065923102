import { expect, test } from 'vitest';
import type { Disk, Stamp } from '../../host/disk.ts';
import { awayReason } from '../../watcher/away.ts';

/** Directories by their device and how many entries they have. */
function places(directories: Readonly<Record<string, readonly [device: number, entries: number]>>) {
  const disk = {
    place: (path: string) => {
      const found = directories[path];
      return found === undefined ? null : ({ kind: 'directory', dev: BigInt(found[0]) } as Stamp);
    },
    list: (path: string) => Array.from({ length: directories[path]![1] }),
  } as unknown as Disk;
  return (directory: string, device = '7') => awayReason(directory, { root: '/p', disk, device });
}

test.each([
  ['on its device as before', { '/p': [1, 2], '/p/in': [7, 0] }, null],
  ['that was removed, on the device that it was on', { '/p': [7, 0] }, null],
  ['that is a mount point without its mount', { '/p': [1, 1], '/p/in': [1, 0] }, 'its disk is away'],
  ['whose mount point is gone with its mount', { '/p': [1, 0] }, 'its disk is away'],
  ['on another device, with something in it', { '/p': [1, 1], '/p/in': [8, 3] }, null],
  ['whose root is not there', { '/': [1, 1] }, 'it is away'],
] as const)('of a directory %s', (_, directories, said) => {
  const reason = places(directories)('/p/in');
  if (said === null) expect(reason).toBeNull();
  else expect(reason).toContain(said);
});

test('of a directory whose device was never seen nothing is held against it', () => {
  expect(places({ '/p': [1, 1], '/p/in': [1, 0] })('/p/in', '')).toBeNull();
});
