// What a watcher's report does: which states exist, and which of them it makes stale.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function observationBehaviours(cp: ControlPlane): void {
  describe('a new file', () => {
    test('makes the whole chain behind it known, at once', async () => {
      await cp.register('w', CHAIN);
      expect(await cp.see({ 'raw/a.txt': 'a' })).toEqual({ observed: 1, changed: 1, discovered: 2 });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale', 'count@a': 'waiting' });
      expect(await cp.reasons('clean', 'a')).toEqual(['stage not found in lock file — new stage']);
      expect(await cp.status()).toMatchObject({ entities: 1, stale: 2, waiting: 1 });
    });

    test('that no pattern asks about is not kept', async () => {
      await cp.register('w', CHAIN);
      expect(await cp.see({ 'elsewhere/a.txt': 'a', 'raw/a.csv': 'a' })).toMatchObject({ changed: 0 });
      expect(await cp.rows('SELECT * FROM paths')).toEqual([]);
    });

    test('waits for what else its state reads, and names it', async () => {
      await cp.register('w', playbook({ m: step(['raw/{x}.txt', 'model.bin'], 'out/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.why('m', 'a')).toMatchObject({ word: 'waiting', cause: 'missing' });
      expect((await cp.why('m', 'a')).waits_for).toEqual(['model.bin']);
      await cp.see({ 'model.bin': 'm' });
      expect(names(await cp.claim())).toEqual(['m@a']);
    });
  });

  describe('entities', () => {
    test('have several variables, in the order of the pattern that finds them', async () => {
      await cp.register('w', playbook({ s: step('feeds/{feed}/{guid}.json', 'text/{guid}-of-{feed}.txt') }));
      await cp.see({ 'feeds/news/1.json': '1' });
      expect(await cp.words()).toEqual({ 's@news/1': 'stale' });
    });

    test('have several variables in one segment', async () => {
      await cp.register('w', playbook({ s: step('raw/{day}_{part}.txt', 'out/{part}/{day}.txt') }));
      await cp.see({ 'raw/mon_1.txt': '1', 'raw/nothing.txt': '2' });
      expect(await cp.words()).toEqual({ 's@mon/1': 'stale' });
      await cp.settle();
      expect(await cp.rows('SELECT path FROM paths WHERE maker_id IS NOT NULL AND hash IS NOT NULL')).toEqual(
        [{ path: '/p/out/1/mon.txt' }],
      );
    });

    test('share a dep with fewer variables: its change makes all of them stale', async () => {
      await cp.register(
        'w',
        playbook({ s: step(['in/{a}/{b}.txt', 'cfg/{a}.yaml', 'all.yaml'], 'out/{a}/{b}') }),
      );
      await cp.see({ 'in/x/1.txt': '1', 'in/x/2.txt': '2', 'in/y/1.txt': '3' });
      await cp.see({ 'cfg/x.yaml': 'x', 'cfg/y.yaml': 'y', 'all.yaml': 'all' });
      expect(await cp.settle()).toHaveLength(3);
      await cp.see({ 'cfg/x.yaml': 'X' });
      expect(await cp.words()).toEqual({ 's@x/1': 'stale', 's@x/2': 'stale', 's@y/1': 'fresh' });
      await cp.settle();
      await cp.see({ 'all.yaml': 'ALL' });
      expect(Object.values(await cp.words())).toEqual(['stale', 'stale', 'stale']);
    });

    test('collect: a new member makes its collection stale, and no other', async () => {
      await cp.register('w', playbook({ digest: step('feeds/{feed}/{guid}.json', 'digests/{feed}.md') }));
      await cp.see({ 'feeds/a/1.json': '1', 'feeds/a/2.json': '2', 'feeds/b/1.json': '3' });
      expect(await cp.words()).toEqual({ 'digest@a': 'stale', 'digest@b': 'stale' });
      await cp.settle();
      await cp.see({ 'feeds/a/3.json': '4' });
      expect(await cp.words()).toEqual({ 'digest@a': 'stale', 'digest@b': 'fresh' });
      expect(await cp.reasons('digest', 'a')).toEqual([expect.stringMatching(/feeds\/a\/3.json \[new: /)]);
      await cp.settle();
      await cp.see({ 'feeds/a/1.json': null });
      expect(await cp.words()).toEqual({ 'digest@a': 'stale', 'digest@b': 'fresh' });
    });

    test('collect beside a driver: members known before the entity, and after it', async () => {
      await cp.register('w', playbook({ s: step(['heads/{f}.txt', 'parts/{f}/{n}.txt'], 'out/{f}.txt') }));
      await cp.see({ 'parts/a/1.txt': '1' });
      await cp.see({ 'heads/a.txt': 'A' });
      await cp.settle();
      const [made] = await cp.rows('SELECT deps FROM records');
      expect(String(made!.deps)).toContain('parts/a/1.txt');
      await cp.see({ 'parts/a/2.txt': '2' });
      expect(await cp.words()).toEqual({ 's@a': 'stale' });
    });

    test('collect into one: a stage without variables exists from its first member on', async () => {
      await cp.register('w', playbook({ all: step('parts/{n}.txt', 'all.txt') }));
      expect(await cp.words()).toEqual({});
      await cp.see({ 'parts/1.txt': '1' });
      expect(await cp.words()).toEqual({ all: 'stale' });
    });

    test('of a fan-out are the files below its directory that its glob picks', async () => {
      const fan = { parallel: { strategy: 'per_file', glob: '**/*.wav', ext: 'json' } };
      await cp.register('w', playbook({ t: step('audio/', 'text/', fan) }));
      await cp.see({ 'audio/a.wav': 'a', 'audio/deep/b.wav': 'b', 'audio/notes.md': 'n' });
      expect(await cp.words()).toEqual({ 't@a.wav': 'stale', 't@deep/b.wav': 'stale' });
      await cp.settle();
      const made = await cp.rows('SELECT path FROM paths WHERE made_hash IS NOT NULL ORDER BY path');
      expect(made.map(({ path }) => path)).toEqual(['/p/text/a.json', '/p/text/deep/b.json']);
    });

    test('of a fan-out with one output for two inputs: the second gives up, naming the path', async () => {
      const fan = { parallel: { strategy: 'per_file', ext: 'json' } };
      await cp.register('w', playbook({ t: step('audio/', 'text/', fan) }));
      await cp.see({ 'audio/a.wav': 'a', 'audio/a.mp3': 'b' });
      expect(Object.values(await cp.words()).toSorted()).toEqual(['exhausted', 'stale']);
      const states = await cp.states();
      expect(states.find(({ status }) => status === 'exhausted')!.error).toContain('/p/text/a.json');
    });

    test('read whole directories, and make them', async () => {
      await cp.register(
        'w',
        playbook({ s: step('sets/{x}/', 'done/{x}/'), t: step('done/{x}/', 'sum/{x}.txt') }),
      );
      await cp.see({ 'sets/a': { text: 'tree', files: 3 } });
      expect(await cp.words()).toEqual({ 's@a': 'stale', 't@a': 'waiting' });
      expect(await cp.settle()).toEqual(['s@a', 't@a']);
      await cp.see({ 'sets/a': { text: 'another tree', files: 4 } });
      expect(await cp.words()).toEqual({ 's@a': 'stale', 't@a': 'fresh' });
      expect(await cp.settle()).toEqual(['s@a', 't@a']);
    });
  });

  describe('a source of a pipeline', () => {
    const filtered = JSON.stringify({
      mode: 'pipeline',
      stateRoot: '.',
      stages: [
        { id: 'logs', type: 'source', pattern: 'logs/{d}.txt', filter: { minSize: 3 } },
        {
          ...{ id: 'sum', type: 'transform', input: 'logs', pattern: 'sums/{d}.txt' },
          node: { typeId: 'command', data: { cmd: 'make' } },
        },
      ],
    });

    test('is fresh when it is there, and counts as an entity', async () => {
      await cp.register('w', filtered);
      await cp.see({ 'logs/a.txt': 'long enough' });
      expect(await cp.words()).toEqual({ 'logs@a': 'fresh', 'sum@a': 'stale' });
      expect(names(await cp.claim())).toEqual(['sum@a']);
    });

    test('that does not pass its filter stands for nothing, until it does', async () => {
      await cp.register('w', filtered);
      await cp.see({ 'logs/a.txt': 'x' });
      expect(await cp.words()).toEqual({});
      await cp.see({ 'logs/a.txt': 'long enough' });
      expect(await cp.words()).toEqual({ 'logs@a': 'fresh', 'sum@a': 'stale' });
    });
  });
}
