// What nobody can do without: Node that looks at every file, or watches; for a chain, shells one after another.

import { join } from 'node:path';
import { ANY, links, type Peer, write } from './peer.ts';

/** The least that a program on Node must do to know that nothing is to be done. */
export function nodeFloor(): Peer {
  return {
    ...{ name: 'node floor', role: 'floor', version: process.version, upTo: { cold: 0, 'chain cold': 0 } },
    each: () => {},
    chain: () => {},
    command: () => [process.execPath, join(process.cwd(), 'bench/workloads/node-floor.mjs')],
    state: [],
    adopt: [],
    watching: [
      {
        ...{ name: 'node floor', upTo: ANY, prepare: () => {} },
        command: [process.execPath, join(process.cwd(), 'bench/drop/watch-floor.mjs')],
      },
    ],
  };
}

export function shell(): Peer {
  return {
    ...{ name: 'sh', role: 'floor', version: 'sh', upTo: { 'chain cold': 1, other: 0 } },
    each: () => {},
    chain: (folder) =>
      write(
        folder,
        'all.sh',
        links().map(([from, to]) => `sh -c 'cat link/${from} > link/${to}'`),
      ),
    command: () => ['sh', 'all.sh'],
    state: [],
    adopt: [],
    watching: [],
  };
}
