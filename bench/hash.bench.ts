// Looking at 10,000 small files, beside the bare calls that nobody can do without.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, bench, describe } from 'vitest';
import { loadBlake3 } from '../host/blake3.ts';
import { DISK, type Stamp } from '../host/disk.ts';
import { ignoreRule } from '../host/ignore.ts';
import { createPathHasher } from '../host/path-hash.ts';
import { StatCache } from '../host/stat-cache.ts';
import { asBlake3 } from '../schema/blake3.ts';
import { parsePattern } from '../schema/pattern.ts';
import { scan } from '../watcher/scan.ts';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-bench-')));
const root = join(top, 'files');
const blake3 = loadBlake3();
// Ahead of every stamp, so that no entry is racy.
const nowMs = () => Date.now() + 60_000;

mkdirSync(root);
for (let i = 0; i < 10_000; i++) {
  writeFileSync(join(root, `file-${i}.txt`), `${i}`.repeat(500));
  utimesSync(join(root, `file-${i}.txt`), 1, 1);
}
afterAll(() => rmSync(top, { recursive: true, force: true }));

function newCache(): StatCache {
  return new StatCache({ path: join(top, 'cache'), hash: blake3.hash, nowMs });
}

describe('10,000 files in one directory', () => {
  const parsed = parsePattern('{name}.txt');
  if (!parsed.ok) throw new Error(parsed.message);
  const options = { patterns: [parsed.pattern], root, ignore: ignoreRule() };
  const warm = createPathHasher({ blake3, cache: newCache(), nowMs });

  bench('floor: readdir and stat, all thrown away', () => {
    for (const name of readdirSync(root)) statSync(`${root}/${name}`);
  });
  bench('floor: readdir and stat, paths and stamps kept', () => {
    readdirSync(root).map((name) => ({ path: `${root}/${name}`, stamp: DISK.stat(`${root}/${name}`) }));
  });
  bench('scan with one pattern', () => {
    scan(options);
  });
  bench('scan, then the remembered hash of each', () => {
    for (const { path, stamp } of scan(options).found) warm.hashPath(path, stamp);
  });
  bench('hash of the directory, remembered', () => {
    warm.hashPath(root);
  });
  bench('hash of the directory, never seen before', () => {
    createPathHasher({ blake3, cache: newCache(), nowMs }).hashPath(root);
  });
});

describe('a stat cache of 100,000 entries', () => {
  const stamp: Stamp = { kind: 'file', size: 1, mtimeNs: 1n, ctimeNs: 1n, ino: 1n, dev: 1n };
  const hash = asBlake3(new Uint8Array(32));
  const cache = new StatCache({ path: join(top, 'large'), hash: blake3.hash, nowMs });
  for (let i = 0; i < 100_000; i++) cache.remember(`${root}/some/place/${i}.wav`, stamp, hash, nowMs());
  cache.save();

  bench('load', () => {
    new StatCache({ path: join(top, 'large'), hash: blake3.hash, nowMs }).find('', stamp);
  });
  bench('save', () => {
    cache.remember('/one/more', stamp, hash, nowMs());
    cache.save();
  });
});
