// Whatever happens to files, what the control plane believes is what is there: told by events alone, for the look at
// everything is half an hour away.

import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { watchedPlace } from '../rig/watched-place.ts';

const WORKFLOW = `
name: p
mode: pipeline
stateRoot: ./
scanInterval: 30m
watch: {settle: 0}
stages:
  - {id: flat, type: source, pattern: "flat/{name}.txt"}
  - {id: deep, type: source, pattern: "deep/{group}/{name}.txt"}
  - {id: trees, type: source, pattern: "trees/{tree}/"}
`;
const isOurs = (path: string) =>
  /^(flat\/[^/.][^/]*\.txt|deep\/[^/.]+\/[^/.][^/]*\.txt|trees\/[^/.]+)$/.test(path);

const SCRIPTS = 500;
const STEPS = 8;

test('after each of 500 random scripts what is believed is what is there', { timeout: 120_000 }, async () => {
  const outside = temporaryFolder({ 'a.txt': 'outside a', 'b.txt': 'outside b' });
  const place = await watchedPlace(WORKFLOW, {
    'flat/f0.txt': '0',
    'deep/g0/f0.txt': '0',
    'trees/t0/x/f': '0',
  });
  await place.agrees(isOurs);
  for (let seed = 1; seed <= SCRIPTS; seed++) {
    const script = new Script(place.root, outside, seed);
    for (let step = 0; step < STEPS; step++) script.step();
    await place.agrees(isOurs).catch((error) => {
      throw new Error(`script ${seed}: ${script.done.join(', ')}: ${error.message}`);
    });
  }
  expect(place.warnings).toEqual([]);
});

class Script {
  readonly done: string[] = [];
  readonly #root: string;
  readonly #outside: string;
  #state: number;

  constructor(root: string, outside: string, seed: number) {
    this.#root = root;
    this.#outside = outside;
    this.#state = seed * 2_654_435_761;
  }

  step(): void {
    const steps = [
      ...[
        this.#create,
        this.#create,
        this.#append,
        this.#rename,
        this.#replace,
        this.#remove,
        this.#directory,
      ],
      ...[this.#moveDirectory, this.#link, this.#touch, this.#sameSize, this.#removeDirectory],
    ];
    steps[this.#below(steps.length)]!.call(this);
  }

  #create(): void {
    const path = this.#newFile();
    mkdirSync(join(path, '..'), { recursive: true });
    // Through a link it would write to what the others lead to as well, of which no event tells.
    if (isDirectory(path) || isLink(path)) return;
    this.#did('create', path);
    writeFileSync(path, this.#text());
  }

  #append(): void {
    this.#onFile('append', (path) => appendFileSync(path, this.#text()));
  }

  #rename(): void {
    this.#onFile('rename', (path) => {
      const to = this.#newFile();
      mkdirSync(join(to, '..'), { recursive: true });
      if (!isDirectory(to)) renameSync(path, to);
    });
  }

  #replace(): void {
    this.#onFile('replace', (path) => {
      writeFileSync(`${path}~`, this.#text());
      renameSync(`${path}~`, path);
    });
  }

  #remove(): void {
    this.#onFile('remove', (path) => rmSync(path));
  }

  #directory(): void {
    const path = this.#newDirectory();
    this.#did('mkdir', path);
    mkdirSync(path, { recursive: true });
  }

  #moveDirectory(): void {
    const from = this.#pick(this.#directories());
    const to = this.#newDirectory();
    if (from === null || existsSync(to)) return;
    this.#did('move', `${from} to ${to}`);
    renameSync(from, to);
  }

  #removeDirectory(): void {
    const path = this.#pick(this.#directories());
    if (path === null) return;
    this.#did('rmdir', path);
    rmSync(path, { recursive: true });
  }

  #link(): void {
    const path = this.#newFile();
    if (existsSync(path) || !existsSync(join(path, '..')) || lstatSync(path, { throwIfNoEntry: false }))
      return;
    this.#did('link', path);
    symlinkSync(join(this.#outside, this.#below(2) === 0 ? 'a.txt' : 'b.txt'), path);
  }

  #touch(): void {
    this.#onFile('touch', (path) => utimesSync(path, new Date(), new Date()));
  }

  #sameSize(): void {
    this.#onFile('edit', (path) => {
      const { atime, mtime, size } = statSync(path);
      writeFileSync(path, 'x'.repeat(size));
      utimesSync(path, atime, mtime);
    });
  }

  #onFile(what: string, act: (path: string) => void): void {
    const path = this.#pick(this.#files());
    if (path === null) return;
    this.#did(what, path);
    act(path);
  }

  #files(): string[] {
    return readdirSync(this.#root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  }

  #directories(): string[] {
    return ['deep', 'trees']
      .flatMap((each) => readdirSync(join(this.#root, each)).map((name) => join(this.#root, each, name)))
      .filter(isDirectory);
  }

  #newFile(): string {
    const name = `f${this.#below(6)}`;
    const places = [
      `flat/${name}.txt`,
      `deep/g${this.#below(4)}/${name}.txt`,
      `trees/t${this.#below(3)}/${name}`,
      `trees/t${this.#below(3)}/sub/${name}`,
    ];
    return join(this.#root, this.#pick(places)!);
  }

  #newDirectory(): string {
    return join(this.#root, this.#below(2) === 0 ? `deep/g${this.#below(4)}` : `trees/t${this.#below(3)}`);
  }

  #text(): string {
    return `text ${this.#below(1_000)}\n`;
  }

  #did(what: string, path: string): void {
    this.done.push(`${what} ${path.replaceAll(`${this.#root}/`, '')}`);
  }

  #pick<T>(all: readonly T[]): T | null {
    return all.length === 0 ? null : all[this.#below(all.length)]!;
  }

  /** Numerical Recipes' linear congruence: the same script for the same seed, on every machine. */
  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
