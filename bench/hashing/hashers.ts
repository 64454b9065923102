// The two that hash: the path hasher that the program uses, and b3sum on one thread.

import { join } from 'node:path';
import { loadBlake3 } from '../../host/blake3.ts';
import { DISK } from '../../host/disk.ts';
import { createPathHasher } from '../../host/path-hash.ts';
import { StatCache } from '../../host/stat-cache.ts';
import { measureCommand } from '../measure/command.ts';
import type { Cost } from '../measure/contest.ts';
import { median } from '../measure/table.ts';
import type { Corpus } from './corpora.ts';

export interface Hashed extends Cost {
  /** In the order of the files. */
  readonly digests: readonly string[];
}

const blake3 = loadBlake3();

/** In this process, and with an empty stat cache, so that every file is read. */
export function hashByOurs({ folder, files }: Corpus, from: 'scan' | 'path'): Hashed {
  const nowMs = () => Date.now();
  const cache = new StatCache({ path: join(folder, '.cache'), hash: blake3.hash, nowMs });
  const { hashPath } = createPathHasher({ blake3, cache, nowMs });
  const looks = files
    .map((name) => `${folder}/${name}`)
    .map((path) => ({ path, stamp: from === 'scan' ? DISK.stat(path)! : undefined }));
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  const contents = looks.map(({ path, stamp }) => hashPath(path, stamp));
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const digests = contents.map((content) => {
    if (content.kind !== 'file') throw new Error(`a file of the bench is ${content.kind}`);
    return content.hash;
  });
  return { seconds, cpuSeconds: (user + system) / 1e6, peakMb: null, digests };
}

/** Without what it takes to start and hash nothing: what is compared is hashing, not starting. */
export function hashByB3sum({ folder, files }: Corpus): Hashed {
  startSeconds ??= median(Array.from({ length: 15 }, () => runB3sum(folder, []).seconds));
  const { seconds, cpuSeconds, stdout } = runB3sum(folder, files);
  const digests = stdout
    .trim()
    .split('\n')
    .map((hex) => `blake3:${hex}`);
  return { seconds: seconds - startSeconds, cpuSeconds, peakMb: null, digests };
}

let startSeconds: number | undefined;

/** Without files it hashes its empty input. */
function runB3sum(cwd: string, files: readonly string[]) {
  return measureCommand(['b3sum', '--num-threads', '1', '--no-names', ...files], cwd);
}
