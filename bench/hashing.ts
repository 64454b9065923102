// `npm run bench:hashing`: the code that hashes files for watcher and runner, beside `b3sum --num-threads 1`.
//
//   --quick   64 MiB and 1,000 files instead of 1 GiB and 10,000
//
// Everything is in the page cache, and every digest is compared. The watcher hashes what a scan has just looked at;
// by path alone each file is looked at first.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Corpus, largeFile, smallFiles } from './hashing/corpora.ts';
import { type Hashed, hashByB3sum, hashByOurs } from './hashing/hashers.ts';
import { type Contender, contest, type Row, tellRows } from './measure/contest.ts';
import { keepResults, tellMachine } from './measure/machine.ts';
import { versionOf } from './peers/peer.ts';

const quick = process.argv.includes('--quick');
const repetitions = quick ? 7 : 15;
tellMachine();
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-bench-')));
try {
  const large = largeFile(folderIn('large'), quick ? 64 * 2 ** 20 : 2 ** 30);
  const small = smallFiles(folderIn('small'), quick ? 1_000 : 10_000, 4_096);
  const rows = [...(await measure('large file', large)), ...(await measure('small files', small))];
  keepResults('hashing', { quick, rows, facts: {} });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measure(workload: string, corpus: Corpus): Promise<Row[]> {
  let expected: readonly string[] | null = null;
  const contender = (
    name: string,
    of: Pick<Contender, 'role' | 'version'>,
    hash: () => Hashed,
  ): Contender => ({
    ...{ name, ...of },
    act: () => {
      const hashed = hash();
      expected ??= hashed.digests;
      compare(name, hashed.digests, expected);
      return hashed;
    },
  });
  const ours = { role: 'ours', version: process.version } as const;
  // The first round fills the page cache and warms all up.
  hashByOurs(corpus, 'scan');
  const rows = await contest({
    ...{ workload, size: corpus.files.length, items: corpus.files.length, repetitions },
    contenders: [
      contender('sluice', ours, () => hashByOurs(corpus, 'scan')),
      contender('sluice, by path alone', ours, () => hashByOurs(corpus, 'path')),
      contender('b3sum', { role: 'peer', version: versionOf('b3sum') }, () => hashByB3sum(corpus)),
    ],
  });
  tellRows(corpus.name, rows);
  return rows;
}

function compare(name: string, digests: readonly string[], expected: readonly string[]): void {
  const differs = expected.findIndex((digest, i) => digest !== digests[i]);
  if (differs >= 0)
    throw new Error(`file ${differs}: ${digests[differs]} by ${name}, not ${expected[differs]}`);
}

function folderIn(name: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  return folder;
}
