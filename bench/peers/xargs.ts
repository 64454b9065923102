// xargs: the floor for commands.

import { ANY, JOBS, type Peer, versionOf } from './peer.ts';

const ONE = `sh -c 'cat "in/$1" > "out/$1"' sh {}`;

export function xargs(): Peer {
  return {
    ...{ name: 'xargs -P', role: 'floor', version: versionOf('xargs'), upTo: { cold: ANY, other: 0 } },
    each: () => {},
    chain: () => {},
    command: () => ['sh', '-c', `ls in | xargs -P${JOBS} -I{} ${ONE}`],
    state: [],
    adopt: [],
    watching: [],
  };
}
