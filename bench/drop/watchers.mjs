// The programs that watch, each told the same work in its own words: out/NAME from in/NAME by one `cat`.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allPeers, JOBS } from '../run/peers.mjs';

const PEERS = fileURLToPath(new URL('../.peers/', import.meta.url));
const FLOOR = fileURLToPath(new URL('node-floor.mjs', import.meta.url));
const ANY = Number.POSITIVE_INFINITY;

/**
 * @typedef {object} Watcher
 * @property {string} name
 * @property {'ours' | 'peer' | 'floor'} role
 * @property {string | null} version  null if it is not on this machine, or cannot run on it
 * @property {number} upTo  the most files already there that are worth the wait
 * @property {number} [settleMs]  how long it waits by its own rule before it believes a file
 * @property {(folder: string) => void} prepare  in/ and out/ are there and equal
 * @property {readonly string[]} command  stays until it is ended
 * @property {string} [ready]  how the line begins that says that it watches
 * @property {readonly string[]} [stop]  ends what a signal does not reach
 */

/** @returns {Watcher[]} */
export function allWatchers(program) {
  return [
    sluice(program, 'sluice, settle 0', 0),
    sluice(program, 'sluice', null),
    floor(),
    inotifyMake(),
    wireit(),
    turbo(),
    tup(),
  ];
}

function sluice(program, name, settle) {
  const command = (...args) => [process.execPath, program, ...args];
  const [node, ...help] = command('up', '--help');
  const isThere = spawnSync(node, help).status === 0;
  return {
    ...{ name, role: 'ours', version: isThere ? 'this checkout' : null, upTo: ANY, settleMs: settle ?? 500 },
    prepare: (folder) => {
      writeWorkOf(folder, 'sluice');
      if (settle !== null) {
        const path = join(folder, 'p.yaml');
        writeFileSync(path, `watch: {settle: ${settle}}\n${readFileSync(path, 'utf8')}`);
      }
      // Takes what is there as made: to make all of it would take minutes.
      run(command('lock', 'p.yaml'), folder);
    },
    command: command('up', 'p.yaml', '--port', '0'),
    ready: 'watching',
  };
}

function floor() {
  return {
    ...{ name: 'node floor', role: 'floor', version: process.version, upTo: ANY },
    prepare: () => {},
    command: [process.execPath, FLOOR],
  };
}

/** What came while make ran is one more run of it, not one for each. */
function inotifyMake() {
  const isThere = ['inotifywait', 'make', 'bash'].every(isOnPath);
  const loop = `while read -r _; do while read -t 0; do read -r _ || exit; done; ${makeAll()}; done`;
  return {
    ...{ name: 'inotifywait + make', role: 'peer', version: isThere ? 'on PATH' : null, upTo: ANY },
    prepare: (folder) => writeWorkOf(folder, 'make'),
    command: ['bash', '-c', `inotifywait -mq -e close_write -e moved_to in | ${loop}`],
  };
}

/** It knows scripts, not files: which files are to be made is left to make. */
function wireit() {
  const script = { command: makeAll(), files: ['in/*', 'Makefile'], output: [], clean: false };
  const folderOf = (name) => ({
    name: 'bench',
    private: true,
    scripts: { copy: name },
    wireit: { copy: script },
  });
  return {
    ...{ name: 'wireit watch', role: 'peer', version: versionOf('wireit'), upTo: 10_000 },
    prepare: (folder) => {
      writeWorkOf(folder, 'make');
      writeJson(folder, 'package.json', folderOf(join(PEERS, 'node_modules/.bin/wireit')));
    },
    command: ['npm', 'run', 'copy', '--', '--watch'],
  };
}

function turbo() {
  const program = join(PEERS, 'node_modules/.bin/turbo');
  return {
    ...{ name: 'turbo watch', role: 'peer', version: versionOf('turbo'), upTo: 10_000 },
    prepare: (folder) => {
      writeWorkOf(folder, 'make');
      const about = { name: 'bench', private: true, packageManager: 'npm@10.0.0' };
      writeJson(folder, 'package.json', { ...about, scripts: { copy: makeAll() } });
      writeJson(folder, 'package-lock.json', { name: 'bench', lockfileVersion: 3, packages: {} });
      writeJson(folder, 'turbo.json', { tasks: { copy: { inputs: ['in/**', 'Makefile'], cache: false } } });
      writeFileSync(join(folder, '.gitignore'), 'out\n.turbo\nnode_modules\n');
      run(['git', 'init', '-q'], folder);
    },
    command: [program, 'watch', 'copy', '--ui', 'stream'],
    stop: [program, 'daemon', 'stop'],
  };
}

/** It trusts only what it made itself, so it starts with an empty out/. */
function tup() {
  const { version } = allPeers('').find(({ name }) => name === 'tup');
  return {
    ...{ name: 'tup monitor', role: 'peer', version, upTo: 1_000 },
    prepare: (folder) => {
      writeWorkOf(folder, 'tup');
      run(['sh', '-c', 'rm -rf out && mkdir out && tup init && tup --quiet'], folder);
    },
    command: ['tup', 'monitor', '-a', '-f'],
    stop: ['tup', 'stop'],
  };
}

/** The same files that `npm run bench:run` gives to that program. */
function writeWorkOf(folder, name) {
  allPeers('')
    .find((peer) => peer.name === name)
    .each(folder, []);
}

function makeAll() {
  return `make -rs -j${JOBS}`;
}

function run([program, ...args], cwd) {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 2 ** 28 });
}

function writeJson(folder, name, value) {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

function versionOf(name) {
  const path = join(PEERS, 'node_modules', name, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : null;
}

function isOnPath(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}
