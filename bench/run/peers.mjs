// The programs that are measured, each told the same work in its own words: out/NAME from in/NAME by one `cat`, or a
// chain of a hundred such steps. All run two jobs at a time, each job under a shell.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const JOBS = 2;
export const LINKS = 100;

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {'ours' | 'peer' | 'floor'} role
 * @property {string | null} version  null if it is not on this machine, or cannot run on it
 * @property {Record<string, number>} upTo  the largest size per workload that is worth the wait; others are tried
 * @property {false} [isQuick]
 * @property {(folder: string, names: readonly string[]) => void} each  writes what makes out/ from in/
 * @property {(folder: string) => void} chain  writes what makes link/100 from link/0
 * @property {(shape: 'each' | 'chain') => readonly string[]} command
 * @property {readonly string[]} state  what it leaves behind, to be removed before a cold run
 */

/** @returns {Peer[]} */
export function allPeers(program) {
  return [sluice(program), make(), ninja(), snakemake(), tup(), parallel(), xargs(), nodeFloor(), shell()];
}

function sluice(program) {
  return {
    ...{ name: 'sluice', role: 'ours', version: 'this checkout', upTo: {} },
    each: (folder) =>
      write(folder, 'p.yaml', [
        'stages:',
        '  copy_{name}:',
        '    cmd: cat {{deps[0].path}} > {{outs[0].path}}',
        '    deps: ["in/{name}"]',
        '    outs: ["out/{name}"]',
      ]),
    chain: (folder) =>
      write(folder, 'p.yaml', [
        'stages:',
        ...links().flatMap(([from, to]) => [
          `  s${to}:`,
          '    cmd: cat {{deps[0].path}} > {{outs[0].path}}',
          `    deps: [link/${from}]`,
          `    outs: [link/${to}]`,
        ]),
      ]),
    command: () => [process.execPath, program, 'run', 'p.yaml', '--jobs', String(JOBS)],
    state: ['.sluice', 'p.lock.yaml', 'p.events.jsonl'],
  };
}

function make() {
  return {
    ...{ name: 'make', role: 'peer', version: versionOf('make'), upTo: {} },
    each: (folder) =>
      write(folder, 'Makefile', [
        'outs := $(patsubst in/%,out/%,$(wildcard in/*))',
        'all: $(outs)',
        '$(outs): out/%: in/%',
        '\tcat $< > $@',
      ]),
    chain: (folder) =>
      write(folder, 'Makefile', [
        `all: link/${LINKS}`,
        ...links().flatMap(([from, to]) => [`link/${to}: link/${from}`, '\tcat $< > $@']),
      ]),
    // Without its built-in rules, which it would try on every file.
    command: () => ['make', '-rs', `-j${JOBS}`],
    state: [],
  };
}

function ninja() {
  const rule = ['rule copy', '  command = cat $in > $out'];
  return {
    ...{ name: 'ninja', role: 'peer', version: versionOf('ninja'), upTo: {} },
    each: (folder, names) =>
      write(folder, 'build.ninja', [...rule, ...names.map((name) => `build out/${name}: copy in/${name}`)]),
    chain: (folder) =>
      write(folder, 'build.ninja', [
        ...rule,
        ...links().map(([from, to]) => `build link/${to}: copy link/${from}`),
      ]),
    command: () => ['ninja', '--quiet', `-j${JOBS}`],
    state: ['.ninja_log', '.ninja_deps'],
  };
}

/** 27 ms a job, and seconds to find out that there is nothing to do. */
function snakemake() {
  const copy = ['    shell: "cat {input} > {output}"'];
  return {
    ...{ name: 'snakemake', isQuick: false, role: 'peer', version: versionOf('snakemake') },
    upTo: { cold: 1_000, 'all touched': 0, other: 1_000 },
    each: (folder) =>
      write(folder, 'Snakefile', [
        'NAMES, = glob_wildcards("in/{name}")',
        'rule all:',
        '    input: expand("out/{name}", name=NAMES)',
        'rule copy:',
        '    input: "in/{name}"',
        '    output: "out/{name}"',
        ...copy,
      ]),
    chain: (folder) =>
      write(folder, 'Snakefile', [
        'rule all:',
        `    input: "link/${LINKS}"`,
        ...links().flatMap(([from, to]) => [
          `rule s${to}:`,
          `    input: "link/${from}"`,
          `    output: "link/${to}"`,
          ...copy,
        ]),
      ]),
    command: () => ['snakemake', '--quiet', 'all', '--cores', String(JOBS), '--nolock'],
    state: ['.snakemake'],
  };
}

/** Watches what commands read and write through a file system of its own, so it runs only where FUSE does. */
function tup() {
  return {
    ...{ name: 'tup', isQuick: false, role: 'peer', version: hasFuse() ? versionOf('tup') : null, upTo: {} },
    each: (folder) => write(folder, 'Tupfile', [': foreach in/* |> cat %f > %o |> out/%b']),
    chain: (folder) =>
      write(
        folder,
        'Tupfile',
        links().map(([from, to]) => `: link/${from} |> cat %f > %o |> link/${to}`),
      ),
    command: () => ['sh', '-c', `[ -e .tup ] || tup init >/dev/null; exec tup --quiet -j${JOBS}`],
    state: ['.tup'],
  };
}

function parallel() {
  return {
    ...{ name: 'parallel', isQuick: false, role: 'floor', version: versionOf('parallel') },
    upTo: { cold: 1_000, other: 0 },
    each: () => {},
    chain: null,
    command: () => ['sh', '-c', `ls in | parallel -j${JOBS} 'cat in/{} > out/{}'`],
    state: [],
  };
}

function xargs() {
  const one = `sh -c 'cat "in/$1" > "out/$1"' sh {}`;
  return {
    ...{ name: 'xargs -P', role: 'floor', version: versionOf('xargs') },
    upTo: { cold: Number.POSITIVE_INFINITY, other: 0 },
    each: () => {},
    chain: null,
    command: () => ['sh', '-c', `ls in | xargs -P${JOBS} -I{} ${one}`],
    state: [],
  };
}

/** The least that a program on Node must do to know that nothing is to be done. */
function nodeFloor() {
  const script = new URL('node-floor.mjs', import.meta.url).pathname;
  return {
    ...{ name: 'node floor', role: 'floor', version: process.version, upTo: { cold: 0, 'chain cold': 0 } },
    each: () => {},
    chain: () => {},
    command: () => [process.execPath, script],
    state: [],
  };
}

/** The floor of a chain: a shell that starts one shell after another. */
function shell() {
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
  };
}

function links() {
  return Array.from({ length: LINKS }, (_, i) => [i, i + 1]);
}

function write(folder, name, lines) {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
}

function hasFuse() {
  return existsSync('/dev/fuse') && isOnPath('fusermount3');
}

function isOnPath(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

function versionOf(program) {
  if (!isOnPath(program)) return null;
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0].trim();
}
