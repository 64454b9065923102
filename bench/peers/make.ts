// GNU make, and as its watching form a loop of inotifywait around it.

import { ANY, isOnPath, JOBS, LINKS, links, type Peer, versionOf, type Watching, write } from './peer.ts';

/** Without its built-in rules, which it would try on every file. */
export const MAKE = ['make', '-rs', `-j${JOBS}`];

export function make(): Peer {
  return {
    ...{ name: 'make', role: 'peer', version: versionOf('make'), upTo: {} },
    each: writeMakefile,
    chain: (folder) =>
      write(folder, 'Makefile', [
        `all: link/${LINKS}`,
        ...links().flatMap(([from, to]) => [`link/${to}: link/${from}`, '\tcat $< > $@']),
      ]),
    command: () => MAKE,
    state: [],
    adopt: [],
    watching: ['inotifywait', 'make', 'bash'].every(isOnPath) ? [inotifyLoop()] : [],
  };
}

export function writeMakefile(folder: string): void {
  write(folder, 'Makefile', [
    'outs := $(patsubst in/%,out/%,$(wildcard in/*))',
    'all: $(outs)',
    '$(outs): out/%: in/%',
    '\tcat $< > $@',
  ]);
}

/** What came while make ran is one more run of it, not one for each. */
function inotifyLoop(): Watching {
  const loop = `while read -r _; do while read -t 0; do read -r _ || exit; done; ${MAKE.join(' ')}; done`;
  return {
    ...{ name: 'inotifywait + make', upTo: ANY, prepare: writeMakefile },
    command: ['bash', '-c', `inotifywait -mq -e close_write -e moved_to in | ${loop}`],
  };
}
