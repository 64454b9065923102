// tup, which watches what commands read and write through a file system of its own, so it runs only where FUSE does.

import { existsSync } from 'node:fs';
import { isOnPath, JOBS, links, type Peer, run, versionOf, type Watching, write } from './peer.ts';

export function tup(): Peer {
  const version = existsSync('/dev/fuse') && isOnPath('fusermount3') ? versionOf('tup') : null;
  return {
    ...{ name: 'tup', role: 'peer', version, upTo: { other: 10_000 }, isSlow: true },
    each: writeTupfile,
    chain: (folder) =>
      write(
        folder,
        'Tupfile',
        links().map(([from, to]) => `: link/${from} |> cat %f > %o |> link/${to}`),
      ),
    command: () => ['sh', '-c', `[ -e .tup ] || tup init >/dev/null; exec tup --quiet -j${JOBS}`],
    state: ['.tup'],
    adopt: null,
    watching: version === null ? [] : [monitor()],
  };
}

function writeTupfile(folder: string): void {
  write(folder, 'Tupfile', [': foreach in/* |> cat %f > %o |> out/%b']);
}

/** It trusts only what it made itself, so it starts with an empty out/. */
function monitor(): Watching {
  return {
    ...{ name: 'tup monitor', upTo: 1_000 },
    prepare: (folder) => {
      writeTupfile(folder);
      run(['sh', '-c', 'rm -rf out && mkdir out && tup init && tup --quiet'], folder);
    },
    command: ['tup', 'monitor', '-a', '-f'],
    stop: ['tup', 'stop'],
  };
}
