// Which roots are away is told from what is there and from what was there before.

import { expect, test } from 'vitest';
import { AwayRoots } from '../../cli/work/away-roots.ts';
import { DISK, type Disk } from '../../host/disk.ts';
import { asBlake3 } from '../../schema/blake3.ts';

test('a mount point that was left empty is away until something is mounted there again', () => {
  let [device, entries]: [bigint, unknown[]] = [7n, ['a file']];
  const disk = {
    ...DISK,
    place: () => ({ kind: 'directory', dev: device }),
    list: () => entries,
  } as unknown as Disk;
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const roots = new AwayRoots({ disk, warn: tell, say: tell });
  const item = { workflow: 'p', definition: asBlake3(new Uint8Array(32)) };
  expect(roots.isAway(item, '/disk')).toBe(false);
  [device, entries] = [1n, []];
  expect([roots.isAway(item, '/disk'), roots.isAway(item, '/disk')]).toEqual([true, true]);
  expect(roots.now()).toMatchObject([{ workflow: 'p', root: '/disk' }]);
  [device, entries] = [9n, ['a file']];
  expect(roots.now()).toEqual([]);
  expect(lines).toEqual([expect.stringContaining('its disk is away'), expect.stringContaining('is there')]);
});
