// What a changed, vanished, returned or edited file means for what was made from it, and for what made it.

import { describe, expect, test } from 'vitest';
import { CHAIN, CLEANED, type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function changeBehaviours(cp: ControlPlane): void {
  const made = async () => {
    await cp.register('w', CHAIN);
    await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
    await cp.settle();
  };

  describe('an input', () => {
    test('seen unchanged writes nothing: no state, no event, no row', async () => {
      await made();
      const before = [await cp.status(), await cp.events(), await cp.rows('SELECT * FROM paths')];
      expect(await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' })).toMatchObject({ changed: 0 });
      expect([await cp.status(), await cp.events(), await cp.rows('SELECT * FROM paths')]).toEqual(before);
      expect(await cp.claim()).toEqual([]);
    });

    test('changed makes its direct readers stale and nothing else, and names the file with both hashes', async () => {
      await made();
      await cp.see({ 'raw/a.txt': 'A' });
      expect(await cp.words()).toEqual({
        'clean@a': 'stale',
        'count@a': 'fresh',
        'clean@b': 'fresh',
        'count@b': 'fresh',
      });
      expect(await cp.reasons('clean', 'a')).toEqual([
        expect.stringMatching(/^deps_hash changed: raw\/a.txt \[\S+ → \S+\]$/),
      ]);
      expect(await cp.why('count', 'a')).toMatchObject({ status: 'fresh', upstream: [{ stage: 'clean' }] });
    });

    test('changed, but its reader makes the same bytes again: what is behind stays fresh', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.make(await cp.claimOne(), { text: 'same' });
      await cp.settle();
      await cp.see({ 'raw/a.txt': 'A' });
      expect(await cp.make(await cp.claimOne(), { text: 'same' })).toBe('fresh');
      expect(await cp.words()).toEqual({ 'clean@a': 'fresh', 'count@a': 'fresh' });
      expect(await cp.claim()).toEqual([]);
    });

    test('changed twice keeps the first hash as the old one', async () => {
      await made();
      await cp.see({ 'raw/a.txt': 'A' });
      await cp.see({ 'raw/a.txt': 'AA' });
      const [reason] = (await cp.why('clean', 'a')).reasons;
      const [first] = await cp.rows("SELECT deps ->> '$[0].hash' AS hash FROM records LIMIT 1");
      expect(reason).toMatchObject({ reason: 'dep-changed', old: first!.hash });
    });

    test('gone leaves an orphan that nobody works on; back, its state is stale again', async () => {
      await made();
      await cp.see({ 'raw/a.txt': null });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'orphan', 'clean@b': 'fresh' });
      expect(await cp.claim()).toEqual([]);
      expect(await cp.status()).toMatchObject({ entities: 2, orphan: 1 });
      await cp.see({ 'raw/a.txt': 'again' });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'stale' });
      expect(await cp.settle()).toEqual(['clean@a', 'count@a']);
    });

    test('that was never there is reported gone: nothing happens', async () => {
      await made();
      expect(await cp.see({ 'raw/z.txt': null })).toMatchObject({ changed: 0, discovered: 0 });
      expect(await cp.status()).toMatchObject({ entities: 2, fresh: 4 });
    });

    test('gone under on_source_removed: clean is handed out for cleaning, and then its state is no more', async () => {
      const text = playbook(
        { clean: step('raw/{x}.txt', 'clean/{x}.txt') },
        { policy: { on_source_removed: 'clean' } },
      );
      await cp.register('w', text);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      await cp.settle();
      await cp.see({ 'raw/a.txt': null });
      const item = await cp.claimOne();
      expect(item).toMatchObject({ kind: 'clean', stage: 'clean', entity: 'a' });
      expect(await cp.make(item, CLEANED)).toBe('cleaned');
      expect(await cp.words()).toEqual({ 'clean@b': 'fresh' });
      expect(await cp.claim()).toEqual([]);
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale', 'clean@b': 'fresh' });
    });
  });

  describe('an output', () => {
    test('missing makes its state stale, and says which', async () => {
      await made();
      await cp.see({ 'clean/a.txt': null });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'stale' });
      expect(await cp.reasons('clean', 'a')).toEqual(['output missing: clean/a.txt']);
      await cp.settle();
      expect(await cp.status()).toMatchObject({ fresh: 4 });
    });

    test('changed by a person is edited: not made again, and what is behind is refreshed from it', async () => {
      await made();
      await cp.see({ 'clean/a.txt': 'by hand' });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'edited', 'count@a': 'stale' });
      expect(await cp.settle()).toEqual(['count@a']);
      expect(await cp.words()).toMatchObject({ 'clean@a': 'edited', 'count@a': 'fresh' });
      expect(await cp.status()).toMatchObject({ edited: 1, fresh: 3, stale: 0 });
    });

    test('whose bytes come back is fresh again', async () => {
      await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.make(await cp.claimOne(), { text: 'made' });
      await cp.see({ 'clean/a.txt': 'by hand' });
      await cp.see({ 'clean/a.txt': 'made' });
      expect(await cp.words()).toEqual({ 'clean@a': 'fresh' });
      expect(await cp.reasons('clean', 'a')).toEqual([]);
    });

    test('edited stays so when its input changes, and is told to be outdated', async () => {
      await made();
      await cp.see({ 'clean/a.txt': 'by hand' });
      await cp.see({ 'raw/a.txt': 'A' });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'edited' });
      expect(await cp.reasons('clean', 'a')).toEqual(
        expect.arrayContaining([expect.stringMatching(/^deps_hash changed: raw\/a.txt/)]),
      );
      expect(await cp.settle()).toEqual(['count@a']);
    });

    test('edited and outdated, whose bytes come back, is stale because of its input', async () => {
      await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.make(await cp.claimOne(), { text: 'made' });
      await cp.see({ 'clean/a.txt': 'by hand' });
      await cp.see({ 'raw/a.txt': 'A' });
      await cp.see({ 'clean/a.txt': 'made' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
    });

    test('edited is made again when somebody asks for it', async () => {
      await made();
      await cp.see({ 'clean/a.txt': 'by hand' });
      await cp.settle();
      expect(await cp.invalidate({ stage_id: 'clean', entity_id: 'a' })).toEqual({ invalidated: 1 });
      expect(await cp.settle()).toEqual(['clean@a', 'count@a']);
      expect(await cp.status()).toMatchObject({ edited: 0, fresh: 4 });
    });

    test('changed to what an older record had is stale, not edited', async () => {
      await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.make(await cp.claimOne(), { text: 'first' });
      await cp.see({ 'raw/a.txt': 'A' });
      await cp.make(await cp.claimOne(), { text: 'second' });
      await cp.see({ 'clean/a.txt': 'first' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
    });

    test('changed before it was ever made here is not an edit', async () => {
      await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a', 'clean/a.txt': 'from somewhere' });
      await cp.see({ 'clean/a.txt': 'from elsewhere' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
    });

    test('that changes while an attempt is open is not an edit', async () => {
      await made();
      await cp.see({ 'raw/a.txt': 'A' });
      const item = await cp.claimOne();
      await cp.see({ 'clean/a.txt': 'half' });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'running' });
      expect(await cp.make(item)).toBe('fresh');
    });

    test('on another machine is adopted when it is seen there, and an edit later', async () => {
      const text = playbook(
        { send: step('raw/{x}.txt', [{ path: 'there/{x}.txt', remote: 'far' }]) },
        { targets: { far: { host: 'far.example', root: '/far' } } },
      );
      await cp.register('w', text);
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.make(await cp.claimOne(), { outs: [] })).toBe('fresh');
      await cp.see({ '/far/there/a.txt': 'arrived' }, 'far');
      expect(await cp.words()).toEqual({ 'send@a': 'fresh' });
      await cp.see({ '/far/there/a.txt': 'by hand' }, 'far');
      expect(await cp.words()).toEqual({ 'send@a': 'edited' });
      await cp.see({ '/far/there/a.txt': null }, 'far');
      expect(await cp.words()).toEqual({ 'send@a': 'stale' });
    });
  });

  test('what a state reads may be on another target than where it runs', async () => {
    const text = playbook(
      {
        send: step('raw/{x}.txt', [{ path: 'in/{x}.txt', remote: 'far' }]),
        use: step('in/{x}.txt', 'out/{x}.txt', { target: 'far' }),
      },
      { targets: { far: { host: 'far.example', root: '/far' } } },
    );
    await cp.register('w', text);
    await cp.see({ 'raw/a.txt': 'a' });
    await cp.make(await cp.claimOne(), { outs: [] });
    expect(await cp.claim({ targets: ['far'] })).toEqual([]);
    await cp.see({ '/far/in/a.txt': 'arrived' }, 'far');
    expect(names(await cp.claim({ targets: ['local'] }))).toEqual([]);
    expect(await cp.claim({ targets: ['far'] })).toMatchObject([{ stage: 'use', target: 'far' }]);
  });
}
