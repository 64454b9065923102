// `npm run bench:drop`: how long after a file was dropped into a watched folder its output is in place.
//
//   --quick            with 10 and 1,000 files already there instead of 10, 10,000 and 100,000
//   --sizes 10,1000    with these many
//   --drops 30         so many drops of each way
//   --burst 1000       so many files at once
//   --only sluice      watchers whose name begins so
//
// All watch at the same time, each its own folder, and take turns drop by drop.

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Daemon, startDaemon } from './drop/daemon.ts';
import { drop, type Way, waitUntilWatching } from './drop/drops.ts';
import { type Contender, contest, type Role, type Row, tellRows } from './measure/contest.ts';
import { keepResults, tellMachine } from './measure/machine.ts';
import { inPlaces, remove } from './measure/places.ts';
import { formatTable } from './measure/table.ts';
import { allPeers } from './peers/all-peers.ts';
import type { Watching } from './peers/peer.ts';
import { createFolder, fillOutputs } from './workloads/folder.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sizes: { type: 'string' },
    drops: { type: 'string' },
    burst: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const { quick } = values;
const sizes = values.sizes?.split(',').map(Number) ?? (quick ? [10, 1_000] : [10, 10_000, 100_000]);
const drops = Number(values.drops ?? (quick ? 20 : 30));
const burst = Number(values.burst ?? (quick ? 200 : 1_000));
const idleSeconds = quick ? 3 : 10;
/** Between two drops, so that each meets a watcher at rest. */
const REST_MS = 50;
const PATIENCE_MS = 10_000;
const BURST_PATIENCE_MS = 120_000;
const START_PATIENCE_MS = 120_000;

const rows: Row[] = [];
const facts: Record<string, number> = {};
tellMachine();
await inPlaces(async ({ scratch, program }) => {
  for (const size of sizes) await measureSize(scratch, program, size);
});
const isWhole = [values.sizes, values.drops, values.burst, values.only || undefined].every(
  (each) => each === undefined,
);
keepResults('drop', { quick, rows, facts, isWhole });

interface Watcher {
  readonly watching: Watching;
  readonly role: Role;
  readonly version: string | null;
  readonly folder: string;
  daemon: Daemon | null;
  /** Of the start, without which there is nothing to measure. */
  failure: string | null;
}

async function measureSize(scratch: string, program: string, size: number): Promise<void> {
  const watchers = watchersOf(scratch, program, size);
  const title = `${size.toLocaleString('en')} files already there`;
  const tell = (workload: string, own: Row[]) => {
    tellRows(`${workload}, ${title}`, own);
    rows.push(...own);
  };
  try {
    for (const watcher of watchers) await start(watcher, size);
    for (const way of ['rename', 'write'] as const) {
      const contenders = watchers.map((watcher) => contenderOf(watcher, way));
      tell(way, await contest({ workload: way, size, contenders, repetitions: drops }));
    }
    const contenders = watchers.map(burstOf);
    const what = { workload: 'burst', size, items: burst, contenders, repetitions: 1 };
    tell(`burst of ${burst.toLocaleString('en')}`, await contest(what));
    await measureIdle(watchers, size);
    await measureSecondStarts(watchers, size);
  } finally {
    for (const { daemon } of watchers) await daemon?.end();
    for (const { folder } of watchers) remove(folder);
  }
}

function watchersOf(scratch: string, program: string, size: number): Watcher[] {
  return allPeers(program)
    .flatMap(({ watching, role, version }) => watching.map((each) => ({ watching: each, role, version })))
    .filter(({ watching: { name, upTo } }) => name.startsWith(values.only) && size <= upTo)
    .map((each) => ({
      ...each,
      folder: join(scratch, `${size}-${each.watching.name.replaceAll(/\W+/g, '-')}`),
      ...{ daemon: null, failure: null },
    }));
}

async function start(watcher: Watcher, size: number): Promise<void> {
  const { watching, folder } = watcher;
  try {
    createFolder(folder, 'each', size);
    fillOutputs(folder, 'each');
    watching.prepare(folder);
    watcher.daemon = startDaemon(watching, folder);
    await waitUntilWatching(folder, watcher.daemon, START_PATIENCE_MS);
  } catch (error) {
    watcher.failure = String(error instanceof Error ? error.message : error);
  }
}

function contenderOf(watcher: Watcher, way: Way): Contender {
  return contender(watcher, async (nth) => {
    await pause(REST_MS);
    return drop(watcher.folder, [`${way}-${nth}.txt`], way, PATIENCE_MS);
  });
}

function burstOf(watcher: Watcher): Contender {
  const names = Array.from({ length: burst }, (_, i) => `burst-${i}.txt`);
  return contender(watcher, () => drop(watcher.folder, names, 'rename', BURST_PATIENCE_MS));
}

function contender(watcher: Watcher, act: (nth: number) => Promise<number>): Contender {
  const { watching, role, version } = watcher;
  let next = 0;
  return {
    ...{ name: watching.name, role, version },
    prepare: (nth) => {
      if (watcher.failure !== null) throw new Error(watcher.failure);
      next = nth;
    },
    // What it costs is told of watching at rest: here it would be that of all that came before.
    act: async () => ({ seconds: await act(next), cpuSeconds: null, peakMb: null }),
  };
}

async function measureIdle(watchers: readonly Watcher[], size: number): Promise<void> {
  const alive = watchers.filter(({ failure }) => failure === null);
  await pause(1_000);
  const before = alive.map(({ daemon }) => daemon!.costs());
  await pause(idleSeconds * 1_000);
  const lines = alive.map(({ watching: { name }, daemon }, i) => {
    const { cpuSeconds, residentMb } = daemon!.costs();
    const share = (cpuSeconds - before[i]!.cpuSeconds) / idleSeconds;
    facts[`idle CPU %, ${name}, ${size}`] = share * 100;
    facts[`resident MB, ${name}, ${size}`] = residentMb;
    return [name, `${(share * 100).toFixed(1)} %`, `${residentMb.toFixed(0)} MB`];
  });
  const title = `at rest for ${idleSeconds} s, ${size.toLocaleString('en')} files and all that was dropped`;
  console.log(`\n${title}\n${formatTable(['', 'CPU of a core', 'resident'], lines)}`);
}

/** With everything known from the first time. */
async function measureSecondStarts(watchers: readonly Watcher[], size: number): Promise<void> {
  for (const watcher of watchers) {
    const { watching, folder } = watcher;
    if (watching.ready === undefined || watcher.failure !== null) continue;
    await watcher.daemon!.end();
    watcher.daemon = startDaemon(watching, folder);
    const late = pause(START_PATIENCE_MS, null, { ref: false });
    const seconds = await Promise.race([watcher.daemon.readySeconds, late]);
    if (seconds === null) throw new Error(`it never said that it watches: ${watcher.daemon.said()}`);
    facts[`start s, ${watching.name}, ${size}`] = seconds;
    console.log(`${watching.name}: watches ${seconds.toFixed(2)} s after a start with all files known`);
  }
}
