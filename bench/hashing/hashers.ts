// The two that hash: the path hasher that the program uses, and b3sum on one thread.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadBlake3 } from '../../host/blake3.ts';
import { createPathHasher } from '../../host/path-hash.ts';
import { StatCache } from '../../host/stat-cache.ts';
import { median } from '../measure.ts';
import type { Corpus } from './corpora.ts';

export interface Hashed {
  readonly seconds: number;
  /** In the order of the files. */
  readonly digests: readonly string[];
}

const blake3 = loadBlake3();

export function hashByOurs({ folder, files }: Corpus): Hashed {
  const nowMs = () => Date.now();
  // Empty, so that every file is read; it is never saved.
  const cache = new StatCache({ path: join(folder, '.cache'), hash: blake3.hash, nowMs });
  const { hashPath } = createPathHasher({ blake3, cache, nowMs });
  const begun = performance.now();
  const contents = files.map((name) => hashPath(`${folder}/${name}`));
  const seconds = (performance.now() - begun) / 1_000;
  const digests = contents.map((content) => {
    if (content.kind !== 'file') throw new Error(`a file of the bench is ${content.kind}`);
    return content.hash;
  });
  return { seconds, digests };
}

export function hashByB3sum({ folder, files }: Corpus): Hashed {
  startSeconds ??= median(Array.from({ length: 15 }, () => runB3sum(folder, []).seconds));
  const { seconds, stdout } = runB3sum(folder, files);
  return {
    seconds: seconds - startSeconds,
    digests: stdout
      .trim()
      .split('\n')
      .map((hex) => `blake3:${hex}`),
  };
}

let startSeconds: number | undefined;

/** Without files it hashes its empty input. */
function runB3sum(cwd: string, files: readonly string[]): { seconds: number; stdout: string } {
  const begun = performance.now();
  const { status, stdout, stderr } = spawnSync('b3sum', ['--num-threads', '1', '--no-names', ...files], {
    cwd,
    input: '',
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const seconds = (performance.now() - begun) / 1_000;
  if (status !== 0) throw new Error(`b3sum ended with ${status}: ${stderr}`);
  return { seconds, stdout };
}
