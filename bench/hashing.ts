// `npm run bench:hashing`: the code that hashes files for watcher and runner, beside `b3sum --num-threads 1`.
//
//   --quick   64 MiB and 1,000 files instead of 1 GiB and 10,000
//
// Everything is in the page cache, the two take turns, and every digest is compared. Ours runs in this process and
// with an empty stat cache each time; of b3sum's time, what it takes to hash nothing is taken off: what is compared
// is hashing, not starting.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Corpus, largeFile, smallFiles } from './hashing/corpora.ts';
import { type Hashed, hashByB3sum, hashByOurs } from './hashing/hashers.ts';
import { formatTable, keepResults, median, rounded } from './measure.ts';

/** Of the speed of b3sum. */
const AIMS = { large: 0.85, small: 1 } as const;

interface Measured {
  readonly corpus: string;
  readonly aim: number;
  readonly files: number;
  readonly bytes: number;
  readonly ours: readonly number[];
  readonly b3sum: readonly number[];
}

function main(args: readonly string[]): void {
  const quick = args.includes('--quick');
  const repetitions = quick ? 5 : 9;
  const hasPeer = spawnSync('b3sum', ['--version']).status === 0;
  if (!hasPeer) console.log('b3sum: missing (npm run bench:peers)');
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-bench-')));
  try {
    const large = largeFile(folderIn(scratch, 'large'), quick ? 64 * 2 ** 20 : 2 ** 30);
    const small = smallFiles(folderIn(scratch, 'small'), quick ? 1_000 : 10_000, 4_096);
    const results = [
      measure(large, AIMS.large, repetitions, hasPeer),
      measure(small, AIMS.small, repetitions, hasPeer),
    ];
    console.log(`\n${tableOf(results)}`);
    keepResults('hashing', { quick, results });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function measure(corpus: Corpus, aim: number, repetitions: number, hasPeer: boolean): Measured {
  const ours: number[] = [];
  const b3sum: number[] = [];
  // The first round fills the page cache and warms both up.
  for (let nth = -1; nth < repetitions; nth++) {
    const own = hashByOurs(corpus);
    const other = hasPeer ? hashByB3sum(corpus) : null;
    if (other !== null) compare(own, other);
    if (nth < 0) continue;
    ours.push(own.seconds);
    if (other !== null) b3sum.push(other.seconds);
  }
  const bytes = corpus.files.length * corpus.bytesEach;
  return { corpus: corpus.name, aim, files: corpus.files.length, bytes, ours, b3sum };
}

function compare(ours: Hashed, other: Hashed): void {
  const differs = ours.digests.findIndex((digest, i) => digest !== other.digests[i]);
  if (differs >= 0 || ours.digests.length !== other.digests.length)
    throw new Error(`file ${differs}: ${ours.digests[differs]} here, ${other.digests[differs]} by b3sum`);
}

function tableOf(results: readonly Measured[]): string {
  const rows = results.flatMap(({ corpus, aim, files, bytes, ours, b3sum }) => {
    const row = (name: string, times: readonly number[]) => {
      const seconds = median(times);
      const ratio = b3sum.length === 0 ? null : median(b3sum) / seconds;
      const isOurs = times === ours;
      const verdict = !isOurs || ratio === null ? '' : ratio >= aim ? 'met' : 'not met';
      return [
        ...[`${corpus}, ${name}`, (seconds * 1_000).toFixed(1), rounded(bytes / seconds / 1e6)],
        ...[rounded(files / seconds), ratio === null ? '–' : `${ratio.toFixed(2)}×`],
        ...[isOurs ? `≥ ${aim.toFixed(2)}×` : '', verdict],
      ];
    };
    return b3sum.length === 0 ? [row('sluice', ours)] : [row('sluice', ours), row('b3sum', b3sum)];
  });
  return formatTable(['', 'ms', 'MB/s', 'files/s', 'speed to b3sum', 'aim', ''], rows);
}

function folderIn(scratch: string, name: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  return folder;
}

main(process.argv.slice(2));
