import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entityIn, patchLock } from '../../cli/run/lock-text.ts';
import { formatLockFile } from '../../schema/lock-file/format.ts';
import type { LockFile, StateLock } from '../../schema/lock-file/shape.ts';
import { anyLockFile, digest, sample, stage, state } from '../schema/lock-file-samples.ts';

const NAMES = ['lecture-01', 'lecture-02', 'a "b"\\\n', '-rf', 'é', '\u{1F600}', '\uFFFD'];
const LOCK = sample([
  ['extract', stage([['', state(1)]])],
  ['{sample}', stage(NAMES.map((name, i) => [name, state(i + 2)]))],
  [
    'later',
    stage([
      ['lecture-01', state(30)],
      ['x', state(40)],
    ]),
  ],
]);

function patched(lock: LockFile, name: string, states: ReadonlyMap<string, StateLock>, generated = 'later') {
  const { stages, ...head } = lock;
  const { entities: _, ...recipe } = stages.get(name)!;
  const parts = patchLock(Buffer.from(formatLockFile(lock)), {
    ...{ head: { ...head, generated_at: generated }, options: {} },
    stages: new Map([[name, { recipe, states }]]),
  });
  return parts === null ? null : Buffer.concat(parts).toString();
}

function whole(lock: LockFile, name: string, states: ReadonlyMap<string, StateLock>): string {
  const before = lock.stages.get(name)!;
  const after = { ...before, entities: new Map([...before.entities, ...states]) };
  return formatLockFile({ ...lock, generated_at: 'later', stages: new Map([...lock.stages, [name, after]]) });
}

describe('an entity in a lock file', () => {
  test.each([...NAMES, 'new', '', '~'])(
    '%j is replaced or added as if all of it were written anew',
    (name) => {
      const states = new Map([[name, state(99)]]);
      expect(patched(LOCK, '{sample}', states)).toBe(whole(LOCK, '{sample}', states));
    },
  );

  test('that says the same leaves the file as it is, to the byte', () => {
    expect(patched(LOCK, '{sample}', new Map([['lecture-01', state(2)]]))).toBe(formatLockFile(LOCK));
  });

  test('in any lock file comes out as if all of it were written anew, or is left to who does that', () => {
    const ids = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.nat(1_000), { maxKeys: 5 });
    fc.assert(
      fc.property(anyLockFile, ids, fc.nat(), (lock, numbers, nth) => {
        const names = [...lock.stages.keys()];
        fc.pre(names.length > 0);
        const name = names[nth % names.length]!;
        const states = new Map(Object.entries(numbers).map(([id, n]) => [id, state(n)]));
        fc.pre(states.size > 0);
        const result = patched(lock, name, states);
        const isSame = result === formatLockFile(lock);
        expect(result === null || isSame || result === whole(lock, name, states)).toBe(true);
      }),
    );
  });

  test('is found by itself', () => {
    const bytes = Buffer.from(formatLockFile(LOCK));
    for (const [i, name] of NAMES.entries())
      expect(entityIn(bytes, '{sample}', name)?.cache_key).toBe(digest(i + 5));
    expect(entityIn(bytes, 'later', 'lecture-01')?.cache_key).toBe(digest(33));
    expect(entityIn(bytes, 'later', 'lecture-02')).toBeUndefined();
    expect(entityIn(bytes, 'none', 'lecture-01')).toBeUndefined();
    expect(entityIn(bytes, 'extract', '')).toBeNull();
  });
});

test.each<readonly [string, (lock: LockFile) => LockFile]>([
  ['the recipe is another', (lock) => withRecipe(lock, { cmd_hash: digest(77) })],
  ['a param of the workflow is another', (lock) => ({ ...lock, params_hash: digest(77) })],
  ['the stage is not in it', (lock) => ({ ...lock, stages: new Map([...lock.stages, ['new', stage([])]]) })],
])('where %s it has to be written anew', (_, change) => {
  const before = Buffer.from(formatLockFile(LOCK));
  const { stages, ...head } = change(LOCK);
  const [name, { entities, ...recipe }] = [...stages].at(-1)!;
  const patch = { recipe, states: new Map([['x', [...entities.values()][0] ?? state(1)]]) };
  expect(patchLock(before, { head, stages: new Map([[name, patch]]), options: {} })).toBeNull();
});

test('what a formatter has laid out in its own way has to be written anew', () => {
  const text = formatLockFile(LOCK).replaceAll('\n', '\r\n');
  const { stages, ...head } = LOCK;
  const { entities: _, ...recipe } = stages.get('later')!;
  const patch = { recipe, states: new Map([['x', state(1)]]) };
  expect(patchLock(Buffer.from(text), { head, stages: new Map([['later', patch]]), options: {} })).toBeNull();
});

function withRecipe(lock: LockFile, change: object): LockFile {
  const later = { ...lock.stages.get('later')!, ...change };
  return { ...lock, stages: new Map([...lock.stages, ['later', later]]) };
}
