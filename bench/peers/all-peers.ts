// Everybody, in the order of the tables.

import { nodeFloor, shell } from './floors.ts';
import { make } from './make.ts';
import { ninja } from './ninja.ts';
import { parallel } from './parallel.ts';
import type { Peer } from './peer.ts';
import { sluice } from './sluice.ts';
import { snakemake } from './snakemake.ts';
import { tup } from './tup.ts';
import { turbo } from './turbo.ts';
import { wireit } from './wireit.ts';
import { xargs } from './xargs.ts';

export function allPeers(program: string): readonly Peer[] {
  return [
    ...[sluice(program), make(), ninja(), snakemake(), tup(), wireit(), turbo()],
    ...[parallel(), xargs(), nodeFloor(), shell()],
  ];
}
