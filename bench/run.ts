// `npm run bench:run`: the same files made by Sluice and by what people would use instead, side by side.
//
//   --quick            100 and 1,000 entities, about a minute
//   --sizes 100,1000   these sizes
//   --only cold        workloads whose name begins so
//
// How many outputs were made anew is told with the times, for not all find out that a touched file is unchanged.

import { parseArgs } from 'node:util';
import { contest, type Row, tellRows } from './measure/contest.ts';
import { keepResults, tellMachine } from './measure/machine.ts';
import { inPlaces, remove } from './measure/places.ts';
import { allPeers } from './peers/all-peers.ts';
import { limitOf, type Peer, type Shape } from './peers/peer.ts';
import { Place } from './workloads/place.ts';
import { WORKLOADS, type Work } from './workloads/workloads.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sizes: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const { quick, only } = values;
const sizes = values.sizes?.split(',').map(Number) ?? (quick ? [100, 1_000] : [100, 1_000, 10_000, 100_000]);
const repetitions = quick ? 3 : 5;
/** Beyond ten thousand entities a go takes seconds, and bringing a folder to rest takes several. */
const patienceOf = (size: number) => (quick ? 5 : size > 10_000 ? 90 : 40);
/** A quick bench asks the slow ones for a hundred only. */
const SLOW_IN_QUICK = 100;

tellMachine();
const rows = await inPlaces(async ({ scratch, program }) => {
  const peers = allPeers(program);
  const taken: Row[] = [];
  for (const size of sizes) taken.push(...(await measureShape(scratch, peers, 'each', size)));
  taken.push(...(await measureShape(scratch, peers, 'chain', 1)));
  return taken;
});
const isWhole = only === '' && values.sizes === undefined;
keepResults('run', { quick, rows, facts: {}, isWhole });

async function measureShape(scratch: string, peers: readonly Peer[], shape: Shape, size: number) {
  const places = new Map(peers.map((peer) => [peer, new Place(scratch, peer, { shape, size })]));
  const rows: Row[] = [];
  for (const work of WORKLOADS.filter((work) => work.shape === shape && isWanted(work, size))) {
    const asked = [...places].filter(([peer]) => size <= mostOf(peer, work));
    const contenders = asked.map(([, place]) => place.contender(work));
    const { name: workload } = work;
    const own = await contest({ workload, size, contenders, repetitions, patienceSeconds: patienceOf(size) });
    tellRows(
      `${workload}, ${shape === 'chain' ? '100 stages' : `${size.toLocaleString('en')} entities`}`,
      own,
    );
    rows.push(...own);
  }
  for (const { folder } of places.values()) remove(folder);
  return rows;
}

function isWanted({ name, upTo }: Work, size: number): boolean {
  if (!name.startsWith(only) || size > (upTo ?? size)) return false;
  // Of interest only where much was touched.
  return name !== 'all touched' || size === Math.max(...sizes.filter((each) => each <= upTo!));
}

function mostOf(peer: Peer, { name }: Work): number {
  const limit = limitOf(peer, name);
  return quick && peer.isSlow ? Math.min(limit, SLOW_IN_QUICK) : limit;
}
