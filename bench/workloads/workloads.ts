// What is done to a folder before it is run again, one workload each.

import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer, Shape, Workload } from '../peers/peer.ts';
import { forget } from './folder.ts';

export interface Work {
  readonly name: Workload;
  readonly shape: Shape;
  /** Whether everything was made before, and found so. */
  readonly isSettled: boolean;
  readonly disturb: (folder: string, peer: Peer, nth: number) => void;
  readonly upTo?: number;
}

export const WORKLOADS: readonly Work[] = [
  {
    ...{ name: 'cold', shape: 'each', isSettled: false, upTo: 10_000 },
    disturb: (folder, peer) => forget(folder, 'each', peer),
  },
  { name: 'nothing to do', shape: 'each', isSettled: true, disturb: () => {} },
  { name: 'one changed', shape: 'each', isSettled: true, disturb: changeOne },
  { name: 'one touched', shape: 'each', isSettled: true, disturb: (folder) => touch(folder, 1) },
  {
    ...{ name: 'all touched', shape: 'each', isSettled: true, upTo: 10_000 },
    disturb: (folder) => touch(folder, Number.POSITIVE_INFINITY),
  },
  {
    ...{ name: 'chain cold', shape: 'chain', isSettled: false },
    disturb: (folder, peer) => forget(folder, 'chain', peer),
  },
  { name: 'chain nothing to do', shape: 'chain', isSettled: true, disturb: () => {} },
];

function changeOne(folder: string, _peer: Peer, nth: number): void {
  const names = readdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'in', names[(nth * 37) % names.length]!), `changed ${nth} ${Date.now()}\n`);
}

function touch(folder: string, most: number): void {
  const now = new Date();
  for (const name of readdirSync(join(folder, 'in')).slice(0, most))
    utimesSync(join(folder, 'in', name), now, now);
}
