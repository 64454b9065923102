// `npm run bench:run`: the same files made by Sluice and by what people would use instead, side by side.
//
//   --quick            100 and 1,000 entities, under a minute
//   --huge             nothing to do at 100,000 as well; preparing it takes many minutes
//   --sizes 100,1000   these sizes
//   --only cold        workloads whose name begins so
//
// Peers take turns within each repetition, so that a busy moment hits them all; medians are told, and how many
// outputs were made anew, for not all of them find out that a touched file is unchanged.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../build.mjs';
import { keepResults, tellMachine } from './machine.mjs';
import { HAS_TIME, measureCommand } from './run/measure-command.mjs';
import { allPeers } from './run/peers.mjs';
import { median, table } from './run/table.mjs';
import { check, createChain, createEach, madeSince, stampsOf, WORKLOADS } from './run/workloads.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    huge: { type: 'boolean', default: false },
    sizes: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const sizes = values.sizes?.split(',').map(Number) ?? (values.quick ? [100, 1_000] : [100, 1_000, 10_000]);
const repetitions = values.quick ? 3 : 5;
/** A peer that has taken this long with a workload is not asked again. */
const patienceSeconds = values.quick ? 1 : 40;

await buildIfStale();
// As it is installed: without sources beside it, it does not look whether they are newer than what was built.
const installed = mkdtempSync(join(ROOT, 'node_modules/.cache-bench-'));
const scratch = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const results = [];
try {
  for (const folder of ['bin', 'dist'])
    cpSync(join(ROOT, folder), join(installed, folder), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  const peers = allPeers(join(installed, 'bin/sluice.js'));
  tellPeers(peers);
  for (const size of sizes) measureShape('each', size, peers);
  if (values.huge) measureShape('each', 100_000, peers, ['nothing to do']);
  measureShape('chain', 1, peers);
} finally {
  for (const folder of [installed, scratch]) remove(folder);
}
keepResults('run', { results });

function tellPeers(peers) {
  tellMachine();
  for (const { name, version } of peers)
    console.log(
      version === null
        ? `${name}: missing${name === 'tup' ? ', or FUSE is' : ''} (npm run bench:peers)`
        : `${name}: ${version}`,
    );
  if (!HAS_TIME) console.log('/usr/bin/time is missing: neither CPU nor memory is measured');
}

function measureShape(shape, size, peers, only = null) {
  const places = peers.filter((peer) => peer.version !== null && peer[shape] !== null).map(place);
  for (const workload of WORKLOADS) {
    if (workload.shape !== shape || !workload.name.startsWith(values.only)) continue;
    if (only !== null && !only.includes(workload.name)) continue;
    if (workload.name === 'all touched' && size !== Math.max(...sizes)) continue;
    tell(workload, size, measureWorkload(workload, size, places));
  }
  for (const { folder } of places) if (folder !== null) remove(folder);

  function place(peer) {
    const tried = WORKLOADS.some(({ name, shape: own }) => own === shape && size <= limitOf(peer, name));
    if (!tried) return { peer, folder: null };
    const folder = join(scratch, `${shape}-${size}-${peer.name.replaceAll(' ', '-')}`);
    mkdirSync(folder);
    if (shape === 'chain') createChain(folder, peer);
    else createEach(folder, peer, size);
    return { peer, folder };
  }
}

/** A tup that failed leaves its file system mounted. */
function remove(folder) {
  const mounted = join(folder, '.tup/mnt');
  if (existsSync(mounted)) spawnSync('fusermount3', ['-uqz', mounted]);
  rmSync(folder, { recursive: true, force: true });
}

/** In a hurry, make and ninja are enough at a thousand. */
function limitOf({ upTo, isQuick }, workload) {
  const limit = upTo[workload] ?? upTo.other ?? Number.POSITIVE_INFINITY;
  return values.quick && isQuick === false ? Math.min(limit, 100) : limit;
}

function measureWorkload(workload, size, places) {
  const rows = places
    .filter(({ peer, folder }) => folder !== null && size <= limitOf(peer, workload.name))
    .map(({ peer, folder }) => ({ peer, folder, taken: [], made: 0, failure: null }));
  for (let nth = 0; nth < repetitions; nth++) {
    for (const row of rows.map((_, i) => rows[(i + nth) % rows.length])) measureOnce(row, workload, nth);
  }
  return rows;
}

function measureOnce(row, workload, nth) {
  const { peer, folder, taken } = row;
  const spent = taken.reduce((sum, { seconds, preparing }) => sum + seconds + preparing, 0);
  if (row.failure !== null || spent > patienceSeconds) return;
  try {
    const begun = performance.now();
    if (workload.settles && peer.role !== 'floor') settle(row, workload);
    else if (workload.settles && nth === 0) fill(folder, workload);
    workload.prepare(folder, peer, nth);
    const before = stampsOf(folder);
    const preparing = (performance.now() - begun) / 1_000;
    const measured = measureCommand(peer.command(workload.shape), folder);
    taken.push({ ...measured, preparing });
    row.made = madeSince(folder, before);
    if (peer.name !== 'node floor') check(folder, workload.shape, peer);
  } catch (error) {
    row.failure = error.message;
  }
}

/** The first time until nothing is left to do; later a run that finds so is enough. */
function settle(row, workload) {
  const command = row.peer.command(workload.shape);
  measureCommand(command, row.folder);
  if (row.peer.role === 'ours' || row.taken.length === 0) measureCommand(command, row.folder);
}

/** The floor looks at outputs that it does not make itself. */
function fill(folder, { shape }) {
  const copy = shape === 'chain' ? 'for i in $(seq 100); do cp link/0 link/$i; done' : 'cp -r in/. out/';
  measureCommand(['sh', '-c', copy], folder);
}

function tell(workload, size, rows) {
  const good = rows.filter(({ taken }) => taken.length > 0);
  const secondsOf = (row) => median(row.taken.map(({ seconds }) => seconds));
  const best = Math.min(...good.filter(({ peer }) => peer.role === 'peer').map(secondsOf));
  const floor = Math.min(...good.filter(({ peer }) => peer.role === 'floor').map(secondsOf));
  console.log(
    `\n${workload.name}${workload.shape === 'chain' ? ', 100 stages' : `, ${size.toLocaleString('en')} entities`}`,
  );
  const lines = rows.map((row) => {
    if (row.taken.length === 0) return [row.peer.name, `failed: ${row.failure?.split('\n')[0].slice(0, 90)}`];
    const seconds = secondsOf(row);
    const result = {
      ...{ workload: workload.name, size, peer: row.peer.name, seconds, made: row.made },
      ...{ times: row.taken.map((each) => each.seconds), failure: row.failure },
      cpuSeconds: median(row.taken.map((each) => each.cpuSeconds)),
      peakMb: median(row.taken.map((each) => each.peakMb)),
    };
    results.push(result);
    const times = (other) => (Number.isFinite(other) ? `${(seconds / other).toFixed(2)}×` : '–');
    return [
      row.peer.name,
      `${(seconds * 1_000).toFixed(0)} ms`,
      times(best),
      times(floor),
      HAS_TIME ? `${result.cpuSeconds.toFixed(2)} s` : '–',
      HAS_TIME ? `${result.peakMb.toFixed(0)} MB` : '–',
      row.made.toLocaleString('en'),
      row.failure === null ? '' : `then failed: ${row.failure.split('\n')[0].slice(0, 60)}`,
    ];
  });
  console.log(table(['', 'time', 'to best peer', 'to floor', 'CPU', 'peak', 'made'], lines));
  tellPerJob(workload, size, good, secondsOf);
}

function tellPerJob({ name }, size, rows, secondsOf) {
  const ours = rows.find(({ peer }) => peer.role === 'ours');
  const xargs = rows.find(({ peer }) => peer.name === 'xargs -P');
  if (name !== 'cold' || ours === undefined || xargs === undefined) return;
  const beyond = ((secondsOf(ours) - secondsOf(xargs)) / size) * 1_000;
  console.log(`sluice takes ${beyond.toFixed(2)} ms per job beyond xargs`);
}
