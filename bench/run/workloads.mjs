// What is to be done, and whether it was: every workload prepares a folder, and every output is compared afterwards.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINKS } from './peers.mjs';

/**
 * `prepare` is not measured. `settles` asks for two runs before it, so that what a program remembers of a run with
 * nothing to do is there.
 */
export const WORKLOADS = [
  { name: 'cold', shape: 'each', settles: false, prepare: forget },
  { name: 'nothing to do', shape: 'each', settles: true, prepare: () => {} },
  { name: 'one changed', shape: 'each', settles: true, prepare: changeOne },
  { name: 'one touched', shape: 'each', settles: true, prepare: (folder) => touch(folder, 1) },
  { name: 'all touched', shape: 'each', settles: true, prepare: (folder) => touch(folder, Infinity) },
  { name: 'chain cold', shape: 'chain', settles: false, prepare: forget },
  { name: 'chain nothing', shape: 'chain', settles: true, prepare: () => {} },
];

export function namesOf(size) {
  return Array.from({ length: size }, (_, i) => `entity-${String(i).padStart(6, '0')}.txt`);
}

export function createEach(folder, peer, size) {
  for (const sub of ['in', 'out']) mkdirSync(join(folder, sub), { recursive: true });
  const names = namesOf(size);
  for (const name of names) writeFileSync(join(folder, 'in', name), `${name}\n${'x'.repeat(200)}\n`);
  peer.each(folder, names);
}

export function createChain(folder, peer) {
  mkdirSync(join(folder, 'link'), { recursive: true });
  writeFileSync(join(folder, 'link', '0'), 'the first link\n');
  peer.chain(folder);
}

function forget(folder, peer) {
  for (const name of peer.state) rmSync(join(folder, name), { recursive: true, force: true });
  for (const path of outputsOf(folder)) rmSync(path, { force: true });
}

function changeOne(folder, _peer, nth) {
  const names = readdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'in', names[(nth * 37) % names.length]), `changed ${nth} ${Date.now()}\n`);
}

function touch(folder, most) {
  const now = new Date();
  for (const name of readdirSync(join(folder, 'in')).slice(0, most))
    utimesSync(join(folder, 'in', name), now, now);
}

function outputsOf(folder) {
  try {
    return readdirSync(join(folder, 'out')).map((name) => join(folder, 'out', name));
  } catch {
    return Array.from({ length: LINKS }, (_, i) => join(folder, 'link', String(i + 1)));
  }
}

/** By path: what tells a file made anew from one left alone. */
export function stampsOf(folder) {
  const stamps = new Map();
  for (const path of outputsOf(folder)) {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat !== undefined) stamps.set(path, `${stat.ino} ${stat.mtimeNs}`);
  }
  return stamps;
}

export function madeSince(folder, before) {
  return [...stampsOf(folder)].filter(([path, stamp]) => before.get(path) !== stamp).length;
}

/** Throws unless every output has the bytes of its input. */
export function check(folder, shape, peer) {
  const pairs =
    shape === 'chain'
      ? Array.from({ length: LINKS }, (_, i) => ['link/0', `link/${i + 1}`])
      : readdirSync(join(folder, 'in')).map((name) => [`in/${name}`, `out/${name}`]);
  for (const [from, to] of pairs) {
    if (!readFileSync(join(folder, from)).equals(readFileSync(join(folder, to))))
      throw new Error(`${peer.name}: ${to} is not what ${from} is`);
  }
}
