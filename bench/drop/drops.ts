// Drops files into a watched folder and waits until what is made of them is in place, byte for byte.

import { readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Daemon } from './daemon.ts';

export type Way = 'rename' | 'write';

/** How a file may come to be there. */
const WAYS: Readonly<Record<Way, (folder: string, name: string, text: string) => () => void>> = {
  rename: (folder, name, text) => {
    // Written beforehand, outside of what is watched.
    const aside = join(folder, `aside-${name}`);
    writeFileSync(aside, text);
    return () => renameSync(aside, join(folder, 'in', name));
  },
  write: (folder, name, text) => () => writeFileSync(join(folder, 'in', name), text),
};

/** Seconds from the drop of the first file until the last output is right. */
export async function drop(
  folder: string,
  names: readonly string[],
  way: Way,
  patienceMs: number,
): Promise<number> {
  const texts = new Map(names.map((name) => [name, `${name} ${Date.now()} ${Math.random()}\n`]));
  const acts = [...texts].map(([name, text]) => WAYS[way](folder, name, text));
  const outputs = watchOutputs(folder);
  try {
    const begun = performance.now();
    for (const act of acts) act();
    while (!takeRight(folder, texts)) {
      if (performance.now() - begun > patienceMs)
        throw new Error(`${texts.size} of ${names.length} outputs were not there after ${patienceMs} ms`);
      await outputs.changedOrSoon();
    }
    return (performance.now() - begun) / 1_000;
  } finally {
    outputs.close();
  }
}

/** Two files in a row: the first may have been seen by a first look, the second only by who watches. */
export async function waitUntilWatching(folder: string, daemon: Daemon, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs;
  for (const name of ['probe-1', 'probe-2']) {
    for (;;) {
      if (daemon.hasEnded()) throw new Error(`it ended: ${daemon.said()}`);
      const done = await drop(folder, [name], 'rename', 2_000).then(
        () => true,
        () => false,
      );
      if (done) break;
      if (performance.now() > until) throw new Error(`it made nothing: ${daemon.said()}`);
    }
  }
}

function watchOutputs(folder: string) {
  let wake: () => void = () => {};
  const watcher = watch(join(folder, 'out'), () => wake());
  return {
    /** An event, or a millisecond: whichever comes first, for events may be lost. */
    changedOrSoon: () => Promise.race([new Promise<void>((resolve) => (wake = resolve)), pause(1)]),
    close: () => watcher.close(),
  };
}

/** Forgets those that are right, in the order of the drop, and stops at the first that is not. */
function takeRight(folder: string, texts: Map<string, string>): boolean {
  for (const [name, text] of texts) {
    if (readIfThere(join(folder, 'out', name)) !== text) return false;
    texts.delete(name);
  }
  return true;
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
