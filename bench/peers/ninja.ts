// ninja, which believes only what its own log says that it made.

import { JOBS, links, type Peer, versionOf, write } from './peer.ts';

const RULE = ['rule copy', '  command = cat $in > $out'];

export function ninja(): Peer {
  return {
    ...{ name: 'ninja', role: 'peer', version: versionOf('ninja'), upTo: {} },
    each: (folder, names) =>
      write(folder, 'build.ninja', [...RULE, ...names.map((name) => `build out/${name}: copy in/${name}`)]),
    chain: (folder) =>
      write(folder, 'build.ninja', [
        ...RULE,
        ...links().map(([from, to]) => `build link/${to}: copy link/${from}`),
      ]),
    command: () => ['ninja', '--quiet', `-j${JOBS}`],
    state: ['.ninja_log', '.ninja_deps'],
    adopt: null,
    watching: [],
  };
}
