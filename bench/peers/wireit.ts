// wireit: one npm script for each file. It knows scripts, not files, so watching leaves to make which files to make.

import { MAKE, writeMakefile } from './make.ts';
import { links, npmVersionOf, type Peer, type Watching, writeJson } from './peer.ts';

export function wireit(): Peer {
  const version = npmVersionOf('wireit');
  return {
    ...{
      name: 'wireit',
      role: 'peer',
      version,
      isSlow: true,
      upTo: { cold: 1_000, 'all touched': 0, other: 1_000 },
    },
    each: (folder, names) => {
      const scripts = names.map((name) => [`make-${name}`, copy([`in/${name}`], `out/${name}`)] as const);
      writeScripts(folder, [...scripts, ['all', { dependencies: scripts.map(([name]) => name) }]]);
    },
    chain: (folder) =>
      writeScripts(folder, [
        ...links().map(([from, to]) => [`link-${to}`, linkOf(from, to)] as const),
        ['all', { dependencies: [`link-${links().length}`] }],
      ]),
    command: () => ['npm', 'run', '--silent', 'all'],
    state: ['.wireit'],
    adopt: null,
    watching: version === null ? [] : [watch()],
  };
}

function linkOf(from: number, to: number) {
  const script = copy([`link/${from}`], `link/${to}`);
  return from === 0 ? script : { ...script, dependencies: [`link-${from}`] };
}

function copy(files: readonly string[], out: string) {
  return { command: `cat ${files[0]} > ${out}`, files, output: [out] };
}

/** A script of its must say `wireit` and nothing else; which one that is, is found by PATH. */
function writeScripts(folder: string, scripts: readonly (readonly [string, object])[]): void {
  writeJson(folder, 'package.json', {
    ...{ name: 'bench', private: true },
    scripts: Object.fromEntries(scripts.map(([name]) => [name, 'wireit'])),
    wireit: Object.fromEntries(scripts),
  });
}

function watch(): Watching {
  return {
    ...{ name: 'wireit watch', upTo: 10_000 },
    prepare: (folder) => {
      writeMakefile(folder);
      const script = { command: MAKE.join(' '), files: ['in/*', 'Makefile'], output: [], clean: false };
      writeScripts(folder, [['all', script]]);
    },
    // What stands after `--` it would hand to make.
    command: ['npm', 'run', 'all', '--watch'],
  };
}
