// Snakemake: 27 ms a job, and seconds to find out that there is nothing to do.

import { JOBS, LINKS, links, type Peer, versionOf, write } from './peer.ts';

const COPY = ['    shell: "cat {input} > {output}"'];

export function snakemake(): Peer {
  return {
    ...{ name: 'snakemake', role: 'peer', version: versionOf('snakemake'), isSlow: true },
    upTo: { cold: 1_000, 'all touched': 0, other: 10_000 },
    each: (folder) =>
      write(folder, 'Snakefile', [
        'NAMES, = glob_wildcards("in/{name}")',
        'rule all:',
        '    input: expand("out/{name}", name=NAMES)',
        'rule copy:',
        '    input: "in/{name}"',
        '    output: "out/{name}"',
        ...COPY,
      ]),
    chain: (folder) =>
      write(folder, 'Snakefile', [
        'rule all:',
        `    input: "link/${LINKS}"`,
        ...links().flatMap(([from, to]) => [
          `rule s${to}:`,
          `    input: "link/${from}"`,
          `    output: "link/${to}"`,
          ...COPY,
        ]),
      ]),
    command: () => ['snakemake', '--quiet', 'all', '--cores', String(JOBS), '--nolock'],
    state: ['.snakemake'],
    adopt: [],
    watching: [],
  };
}
