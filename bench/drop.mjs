// `npm run bench:drop`: how long after a file was dropped into a watched folder its output is in place.
//
//   --quick            with 10 and 1,000 files already there instead of 10, 10,000 and 100,000
//   --sizes 10,1000    with these many
//   --drops 30         so many drops of each way
//   --burst 1000       so many files at once
//   --only sluice      watchers whose name begins so
//
// All watch at the same time, each its own folder, and take turns drop by drop, so that a busy moment hits them all.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../build.mjs';
import { startDaemon } from './drop/daemon.mjs';
import { drop, WAYS, waitUntilWatching } from './drop/drops.mjs';
import { tellDrops } from './drop/tell.mjs';
import { allWatchers } from './drop/watchers.mjs';
import { keepResults, tellMachine } from './machine.mjs';
import { namesOf } from './run/workloads.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sizes: { type: 'string' },
    drops: { type: 'string', default: '30' },
    burst: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
  },
});
const sizes = values.sizes?.split(',').map(Number) ?? (values.quick ? [10, 1_000] : [10, 10_000, 100_000]);
const IDLE_SECONDS = values.quick ? 3 : 10;
/** Between two drops, so that each meets a watcher at rest. */
const REST_MS = 50;
const PATIENCE_MS = 10_000;
const BURST_PATIENCE_MS = 120_000;
const START_PATIENCE_MS = 120_000;

tellMachine();
await buildIfStale();
// As it is installed: without sources beside it, it does not look whether they are newer than what was built.
const installed = mkdtempSync(join(ROOT, 'node_modules/.cache-bench-'));
const scratch = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const results = [];
try {
  for (const folder of ['bin', 'dist'])
    cpSync(join(ROOT, folder), join(installed, folder), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  const watchers = allWatchers(join(installed, 'bin/sluice.js')).filter(({ name }) =>
    name.startsWith(values.only),
  );
  for (const { name, version } of watchers)
    console.log(`${name}: ${version ?? 'missing (npm run bench:peers)'}`);
  for (const size of sizes) {
    const rows = await measureSize(
      watchers.filter(({ version, upTo }) => version !== null && size <= upTo),
      size,
    );
    console.log(tellDrops(size, rows, Number(values.burst)));
    results.push(
      ...rows.map(({ watcher, folder, daemon, ...row }) => ({ watcher: watcher.name, size, ...row })),
    );
  }
} finally {
  for (const folder of [installed, scratch]) rmSync(folder, { recursive: true, force: true });
}
keepResults('drop', { idleSeconds: IDLE_SECONDS, burst: Number(values.burst), results });

async function measureSize(watchers, size) {
  const rows = watchers.map((watcher) => ({
    ...{ watcher, folder: folderFor(watcher, size), daemon: null, failure: null },
    ...{ rename: [], write: [], burst: null, idleCpu: null, residentMb: null },
    ...{ firstStart: null, secondStart: null },
  }));
  try {
    for (const row of rows) await attempt(row, start);
    await takeTurns(rows);
    for (const row of rows) await attempt(row, measureBurst);
    await measureIdle(rows.filter(({ failure }) => failure === null));
    for (const row of rows) await attempt(row, measureSecondStart);
  } finally {
    for (const { daemon } of rows) await daemon?.end();
    for (const { folder } of rows) rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

/** What one of them cannot do is told in its row; the others go on. */
async function attempt(row, act) {
  if (row.failure !== null) return;
  try {
    await act(row);
  } catch (error) {
    row.failure = String(error.stderr ?? error.message).trim() || error.message;
  }
}

function folderFor({ name }, size) {
  const folder = join(scratch, `${size}-${name.replaceAll(/\W+/g, '-')}`);
  for (const sub of ['in', 'out']) mkdirSync(join(folder, sub), { recursive: true });
  // Outputs last: some go by the clock.
  for (const sub of ['in', 'out'])
    for (const each of namesOf(size)) writeFileSync(join(folder, sub, each), `${each}\n`);
  return folder;
}

async function start(row) {
  row.watcher.prepare(row.folder);
  row.daemon = startDaemon(row.watcher, row.folder);
  await waitUntilWatching(row.folder, row.daemon, START_PATIENCE_MS);
  if (row.watcher.ready !== undefined) row.firstStart = await sayReady(row.daemon);
}

async function takeTurns(rows) {
  for (let nth = 0; nth < Number(values.drops); nth++) {
    for (const row of rows.map((_, i) => rows[(i + nth) % rows.length])) {
      await attempt(row, async () => {
        for (const way of Object.keys(WAYS)) {
          row[way].push(await drop(row.folder, [`${way}-${nth}.txt`], way, PATIENCE_MS));
          await pause(REST_MS);
        }
      });
    }
  }
}

async function measureBurst(row) {
  const names = Array.from({ length: Number(values.burst) }, (_, i) => `burst-${i}.txt`);
  row.burst = await drop(row.folder, names, 'rename', BURST_PATIENCE_MS);
}

async function measureIdle(rows) {
  await pause(1_000);
  const before = rows.map(({ daemon }) => daemon.costs());
  await pause(IDLE_SECONDS * 1_000);
  for (const [i, row] of rows.entries()) {
    const { cpuSeconds, residentMb } = row.daemon.costs();
    row.idleCpu = (cpuSeconds - before[i].cpuSeconds) / IDLE_SECONDS;
    row.residentMb = residentMb;
  }
}

/** With everything known from the first time. */
async function measureSecondStart(row) {
  if (row.watcher.ready === undefined) return;
  await row.daemon.end();
  row.daemon = startDaemon(row.watcher, row.folder);
  row.secondStart = await sayReady(row.daemon);
}

async function sayReady(daemon) {
  const late = pause(START_PATIENCE_MS, null, { ref: false });
  const seconds = await Promise.race([daemon.readySeconds, late]);
  if (seconds === null) throw new Error(`it never said that it watches: ${daemon.said()}`);
  return seconds;
}
