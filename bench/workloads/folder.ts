// A folder of work: its inputs and outputs, what tells an output made anew, and whether all are right.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINKS, type Peer, type Shape } from '../peers/peer.ts';

export function namesOf(size: number): string[] {
  return Array.from({ length: size }, (_, i) => `entity-${String(i).padStart(6, '0')}.txt`);
}

export function createFolder(folder: string, shape: Shape, size: number): void {
  mkdirSync(folder);
  if (shape === 'chain') {
    mkdirSync(join(folder, 'link'));
    writeFileSync(join(folder, 'link/0'), 'the first link\n');
    return;
  }
  for (const sub of ['in', 'out']) mkdirSync(join(folder, sub));
  for (const name of namesOf(size)) writeFileSync(join(folder, 'in', name), textOf(name));
}

function textOf(name: string): string {
  return `${name}\n${'x'.repeat(200)}\n`;
}

/** As if somebody had made them: after the inputs, for some go by the clock. */
export function fillOutputs(folder: string, shape: Shape): void {
  for (const [from, to] of pairsOf(folder, shape)) {
    const bytes = readFileSync(join(folder, from));
    rmSync(join(folder, to), { force: true });
    writeFileSync(join(folder, to), bytes);
  }
}

/** Before a cold run. */
export function forget(folder: string, shape: Shape, { state }: Peer): void {
  for (const name of state) rmSync(join(folder, name), { recursive: true, force: true });
  for (const [, to] of pairsOf(folder, shape)) rmSync(join(folder, to), { force: true });
}

/** By path. */
export function stampsOf(folder: string, shape: Shape): ReadonlyMap<string, string> {
  const stamps = new Map<string, string>();
  for (const [, to] of pairsOf(folder, shape)) {
    const stat = statSync(join(folder, to), { bigint: true, throwIfNoEntry: false });
    if (stat !== undefined) stamps.set(to, `${stat.ino} ${stat.mtimeNs}`);
  }
  return stamps;
}

export function madeSince(folder: string, shape: Shape, before: ReadonlyMap<string, string>): number {
  return [...stampsOf(folder, shape)].filter(([path, stamp]) => before.get(path) !== stamp).length;
}

/** Throws unless every output has the bytes of its input. */
export function checkOutputs(folder: string, shape: Shape): void {
  for (const [from, to] of pairsOf(folder, shape)) {
    if (!readFileSync(join(folder, from)).equals(readFileSync(join(folder, to))))
      throw new Error(`${to} is not what ${from} is`);
  }
}

function pairsOf(folder: string, shape: Shape): readonly (readonly [from: string, to: string])[] {
  return shape === 'chain'
    ? Array.from({ length: LINKS }, (_, i) => ['link/0', `link/${i + 1}`])
    : readdirSync(join(folder, 'in')).map((name) => [`in/${name}`, `out/${name}`]);
}
