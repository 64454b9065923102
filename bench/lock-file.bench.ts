// How long a lock file of 10,000 entities takes to read, to write, and to find that nothing changed.

import { bench, describe } from 'vitest';
import { formatLockFile } from '../schema/lock-file/format.ts';
import { parseLockFile, updateLockFile } from '../schema/lock-file.ts';
import { sample, stage, state } from '../test/schema/lock-file-samples.ts';

const lock = sample([
  ['s', stage(Array.from({ length: 10_000 }, (_, n) => [`lecture-${n}`, state(n)] as const))],
]);
const text = formatLockFile(lock);

const asJson = JSON.stringify(
  text
    .split('\n')
    .flatMap((line) => (line.includes('": {') ? [JSON.parse(line.slice(line.indexOf('{')))] : [])),
);

describe('a lock file of 10,000 entities', () => {
  bench('floor: JSON.parse of as many bytes', () => void JSON.parse(asJson));
  bench('read', () => void parseLockFile(text));
  bench('write', () => void formatLockFile(lock));
  bench('update without a change', () => void updateLockFile(text, lock));
});
