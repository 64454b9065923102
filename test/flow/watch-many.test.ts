// Many files at once, and far too many: each is told once, and never more is held than a batch.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '../../host/client.ts';
import type { Disk, Stamp } from '../../host/disk.ts';
import { ignoreRule } from '../../host/ignore.ts';
import type { PathHasher } from '../../host/path-hash.ts';
import { MAX_OBSERVATIONS } from '../../schema/wire.ts';
import type { Blake3 } from '../../schema/words.ts';
import { reportAll } from '../../watcher/report.ts';
import { Reported } from '../../watcher/reported.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { until } from '../rig/up.ts';
import { watchedPlace } from '../rig/watched-place.ts';

const WORKFLOW = (settle: string) => `
name: p
mode: pipeline
stateRoot: ./
scanInterval: 30m
watch: {settle: ${settle}}
stages:
  - {id: all, type: source, pattern: "in/{name}.txt"}
`;
const isOurs = (path: string) => /^in\/[^/.][^/]*\.txt$/.test(path);
/** Enough for the kernel to drop events; `npm run test:long` takes 20,000. */
const BURST = Number(process.env.SLUICE_BURST ?? 6_000);

test.each(['0', '50ms'])(
  'thousands of files that come while the event loop is blocked are each told once, with settle: %s',
  { timeout: 120_000 },
  async (settle) => {
    const place = await watchedPlace(WORKFLOW(settle), { 'in/first.txt': 'first' });
    await place.agrees(isOurs);
    // Written by this very process, in one go: nothing is heard before all of it has happened.
    for (let i = 0; i < BURST; i++) writeFileSync(join(place.root, `in/f${i}.txt`), `content ${i}`);
    await until(() => place.told() >= 1 + BURST);
    await place.agrees(isOurs);
    expect(place.told()).toBe(1 + BURST);
  },
);

test('a directory of thousands that is moved in and out again is told as such', {
  timeout: 60_000,
}, async () => {
  const place = await watchedPlace(WORKFLOW('0'), { 'in/first.txt': 'first' });
  mkdirSync(join(place.root, 'aside'));
  for (let i = 0; i < 3_000; i++) writeFileSync(join(place.root, `aside/f${i}.txt`), `content ${i}`);
  renameSync(join(place.root, 'in'), join(place.root, 'before'));
  await place.agrees(isOurs);
  renameSync(join(place.root, 'aside'), join(place.root, 'in'));
  await until(() => place.told() >= 1 + 1 + 3_000);
  await place.agrees(isOurs);
  expect(place.told()).toBe(1 + 1 + 3_000);
});

const MANY = 300_000;

test('of a pattern that matches far too much only a batch is held, and progress is told', {
  timeout: 60_000,
}, async () => {
  const names = Array.from({ length: MANY }, (_, i) => `f${i}.txt`);
  let [looked, told, most] = [0, 0, 0];
  const stamp: Stamp = { kind: 'file', size: 1, mtimeNs: 1n, ctimeNs: 1n, ino: 1n, dev: 1n };
  const disk = {
    list: () => names.map((name) => ({ name, isDirectory: () => false, isSymbolicLink: () => false })),
    place: () => ({ ...stamp, kind: 'directory' }),
    stat: (path: string) => {
      if (path.endsWith('.txt')) looked += 1;
      return path.endsWith('.txt') ? stamp : { ...stamp, kind: 'directory' };
    },
  } as unknown as Disk;
  const hasher = {
    hashPathInSlices: async () => ({ kind: 'file', hash: `blake3:${'a'.repeat(64)}` as Blake3, size: 1 }),
  } as unknown as PathHasher;
  const fetch = (async (_: unknown, init: RequestInit) => {
    const { observations } = JSON.parse(String(init.body)) as { observations: unknown[] };
    most = Math.max(most, looked - told);
    told += observations.length;
    return Response.json({ observed: observations.length, changed: 0, discovered: 0 });
  }) as typeof globalThis.fetch;
  const progress: number[] = [];
  const { sent } = await reportAll([{ pattern: '/many/in/{name}.txt', glob: null }], {
    ...{ root: '/many', ignore: ignoreRule(), disk, hasher, target: 'local', watcher: 'w' },
    client: createClient({ url: 'http://sluice.local', fetch }),
    reported: new Reported(join(temporaryFolder(), 'reported'), { database: 1, definition: '' }),
    progress: (found) => void progress.push(found),
  });
  expect([sent, told]).toEqual([MANY, MANY]);
  // A slice of the crawl may be ahead of what is being told.
  expect(most).toBeLessThan(MAX_OBSERVATIONS + 1_000);
  expect(progress).toEqual([50_000, 100_000, 150_000, 200_000, 250_000, 300_000]);
});
