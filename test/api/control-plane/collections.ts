// When a stage that collects is handed out: with all of its members, or with those there are.

import { describe, expect, test } from 'vitest';
import { type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function collectionBehaviours(cp: ControlPlane): void {
  describe('a collection', () => {
    const collecting = (collect: object) =>
      playbook({
        part: step('raw/{d}/{x}', 'parts/{d}/{x}', { retry: { limit: 0, policy: 'never' } }),
        whole: step('parts/{d}/{x}', 'wholes/{d}', { collect }),
      });

    test('waits for all of its members', async () => {
      await cp.register('w', collecting({}));
      await cp.see({ 'raw/d/1': '1', 'raw/d/2': '2' });
      const items = await cp.claim();
      expect(names(items)).toEqual(['part@d/1', 'part@d/2']);
      await cp.make(items[0]!);
      expect(await cp.claim()).toEqual([]);
      await cp.make(items[1]!);
      expect(names(await cp.claim())).toEqual(['whole@d']);
    });

    test('with max_wait waits that long, then takes what there is', async () => {
      await cp.register('w', collecting({ max_wait: '5m' }));
      await cp.see({ 'raw/d/1': '1', 'raw/d/2': '2' });
      const items = await cp.claim();
      await cp.make(items[0]!);
      expect(await cp.claim()).toEqual([]);
      await cp.passTime(299_000);
      await cp.heartbeat([items[1]!]);
      expect(names(await cp.claim())).not.toContain('whole@d');
      await cp.passTime(2_000);
      expect(names(await cp.claim())).toEqual(['whole@d']);
    });

    test('with a failed member is blocked', async () => {
      await cp.register('w', collecting({}));
      await cp.see({ 'raw/d/1': '1', 'raw/d/2': '2' });
      const items = await cp.claim();
      await cp.make(items[0]!);
      expect(await cp.fail(items[1]!)).toMatchObject({ result: 'exhausted' });
      expect(await cp.claim()).toEqual([]);
      expect(await cp.why('whole', 'd')).toMatchObject({ word: 'blocked', blocked_by: [{ entity: 'd/2' }] });
    });

    test('with on_failed: omit goes on without it', async () => {
      await cp.register('w', collecting({ on_failed: 'omit' }));
      await cp.see({ 'raw/d/1': '1', 'raw/d/2': '2' });
      const items = await cp.claim();
      await cp.make(items[0]!);
      expect(await cp.claim()).toEqual([]);
      await cp.fail(items[1]!);
      const whole = await cp.claimOne();
      expect(names([whole])).toEqual(['whole@d']);
      expect(await cp.make(whole)).toBe('fresh');
      expect(await cp.claim()).toEqual([]);
    });
  });
}
