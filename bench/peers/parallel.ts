// GNU parallel: a floor for commands, for it remembers nothing.

import { JOBS, type Peer, versionOf } from './peer.ts';

export function parallel(): Peer {
  return {
    ...{ name: 'parallel', role: 'floor', version: versionOf('parallel'), isSlow: true },
    upTo: { cold: 1_000, other: 0 },
    each: () => {},
    chain: () => {},
    command: () => ['sh', '-c', `ls in | parallel -j${JOBS} 'cat in/{} > out/{}'`],
    state: [],
    adopt: [],
    watching: [],
  };
}
