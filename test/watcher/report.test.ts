import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { createClient } from '../../host/client.ts';
import { DISK, type Disk } from '../../host/disk.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { createPathHasher } from '../../host/path-hash.ts';
import { StatCache } from '../../host/stat-cache.ts';
import type { Observation } from '../../schema/wire.ts';
import { type ReportContext, reportAll, reportAt } from '../../watcher/report.ts';
import { Reported } from '../../watcher/reported.ts';
import { Sight } from '../../watcher/sight.ts';
import { temporaryFolder } from '../rig/cli.ts';

/** A folder, a look at `in/{group}/{name}`, and what a control plane that takes everything was told. */
function looking(files: Readonly<Record<string, string>>) {
  const root = temporaryFolder(files);
  const trouble = { unreadable: '', unsettled: '' };
  const calls = { list: 0, stat: 0 };
  const disk: Disk = {
    ...DISK,
    stat: (path) => {
      calls.stat += 1;
      return DISK.stat(path);
    },
    list: (path) => {
      calls.list += 1;
      if (path === join(root, trouble.unreadable)) throw denied(path);
      return DISK.list(path);
    },
  };
  const told: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    const { observations } = JSON.parse(String(init!.body)) as { observations: Observation[] };
    for (const each of observations)
      told.push(`${'gone' in each ? 'gone' : 'seen'} ${each.path.slice(root.length + 4)}`);
    return Response.json({ observed: observations.length, changed: 0, discovered: 0 });
  };
  const blake3 = loadBlake3();
  const ignore = ignoreRule([]);
  const cache = new StatCache({ path: join(root, '.sluice', 'cache'), hash: blake3.hash, nowMs: Date.now });
  const context: ReportContext = {
    ...{ root, ignore, disk, target: 'local', watcher: 'test' },
    client: createClient({ url: 'http://sluice.local', fetch: fetch as typeof globalThis.fetch }),
    hasher: createPathHasher({ blake3, cache, nowMs: Date.now, ignore, disk }),
    reported: new Reported(join(root, '.sluice', 'reported'), { database: 1, definition: '' }),
    isSettled: (path) => path !== join(root, trouble.unsettled),
  };
  return {
    trouble,
    write: (name: string, text: string) => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    },
    remove: (name: string) => rmSync(join(root, name)),
    async lookAt(...names: string[]) {
      [told.length, calls.list, calls.stat] = [0, 0, 0];
      const sight = new Sight([{ pattern: join(root, 'in/{group}/{name}'), glob: null }], context);
      await reportAt(
        names.map((name) => join(root, name)),
        sight,
        context,
      );
      return { told: [...told].sort(), ...calls };
    },
    async look() {
      told.length = 0;
      const pattern = join(root, 'in/{group}/{name}');
      const { problems } = await reportAll([{ pattern, glob: null }], context);
      return { told: [...told].sort(), problems: problems.length };
    },
  };
}

function denied(path: string): Error {
  return Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES', syscall: 'scandir' });
}

test('what is new, changed and gone is told, each once', async () => {
  const rig = looking({ 'in/a/x': '1', 'in/a/y': '1' });
  expect((await rig.look()).told).toEqual(['seen a/x', 'seen a/y']);
  expect((await rig.look()).told).toEqual([]);
  rig.write('in/a/x', 'another');
  rig.write('in/b/z', '1');
  rig.remove('in/a/y');
  expect((await rig.look()).told).toEqual(['gone a/y', 'seen a/x', 'seen b/z']);
});

test('what lies in a directory that cannot be read is not called gone', async () => {
  const rig = looking({ 'in/a/x': '1', 'in/b/y': '1' });
  await rig.look();
  rig.trouble.unreadable = 'in/a';
  rig.remove('in/b/y');
  expect(await rig.look()).toEqual({ told: ['gone b/y'], problems: 1 });
});

test('of a file that is still being written nothing is said until it has settled', async () => {
  const rig = looking({ 'in/a/x': '1', 'in/a/y': '1' });
  rig.trouble.unsettled = 'in/a/x';
  expect((await rig.look()).told).toEqual(['seen a/y']);
  rig.trouble.unsettled = '';
  expect((await rig.look()).told).toEqual(['seen a/x']);
  rig.write('in/a/x', 'changed');
  rig.trouble.unsettled = 'in/a/x';
  expect((await rig.look()).told).toEqual([]);
});

test.each([10, 1_000])(
  'a path that something happened to is looked at alone, among %d files',
  async (count) => {
    const rig = looking(Object.fromEntries(Array.from({ length: count }, (_, i) => [`in/a/f${i}`, '1'])));
    await rig.look();
    rig.write('in/a/new', '1');
    rig.write('in/a/f1', 'another');
    expect(await rig.lookAt('in/a/new', 'in/a/.hidden', 'elsewhere')).toEqual({
      ...{ told: ['seen a/new'], list: 0, stat: 1 },
    });
    expect((await rig.lookAt('in/a/f1')).told).toEqual(['seen a/f1']);
    rig.remove('in/a/new');
    expect((await rig.lookAt('in/a/new')).told).toEqual(['gone a/new']);
  },
);

test('of a directory that something happened to, everything below it is looked at', async () => {
  const rig = looking({ 'in/a/x': '1', 'in/b/y': '1' });
  await rig.look();
  rig.write('in/c/z', '1');
  rig.remove('in/b/y');
  expect((await rig.lookAt('in/c', 'in/b')).told).toEqual(['gone b/y', 'seen c/z']);
});
