// Runs: what is in scope, what is forced, what is always due, and how they end.

import { describe, expect, test } from 'vitest';
import { type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function runBehaviours(cp: ControlPlane): void {
  const start = (body: object = {}) =>
    cp.post<{ id: string; stages: string[] }>('/api/workflows/w/runs', { cause: 'test', ...body });
  const made = async () => {
    await cp.register(
      'w',
      playbook({
        a: step('in/{x}', 'a/{x}'),
        b: step('a/{x}', 'b/{x}'),
        c: step('b/{x}', 'c/{x}'),
        other: step('in/{x}', 'other/{x}'),
      }),
    );
    await cp.see({ 'in/1': '1' });
    await cp.settle();
  };

  describe('a run', () => {
    test('of everything fresh makes nothing', async () => {
      await made();
      expect(await start()).toMatchObject({ stages: ['a', 'b', 'c', 'other'] });
      expect(await cp.claim()).toEqual([]);
    });

    test('of a stage is that stage and the upstream it needs', async () => {
      await made();
      expect((await start({ stage: 'b' })).stages).toEqual(['a', 'b']);
    });

    test('that is forced makes all in scope, with that reason', async () => {
      await made();
      await start({ force: true });
      const items = await cp.claim();
      expect(items[0]!.reasons).toEqual([{ reason: 'forced' }]);
      for (const item of items) await cp.make(item, { text: 'same' });
      expect([...names(items), ...(await cp.settle())].toSorted()).toEqual(['a@1', 'b@1', 'c@1', 'other@1']);
    });

    test('that is forced from a stage makes it and its downstream, not its upstream', async () => {
      await made();
      await start({ force: true, stage: 'b' });
      expect(await cp.words()).toEqual({
        'a@1': 'fresh',
        'b@1': 'stale',
        'c@1': 'waiting',
        'other@1': 'fresh',
      });
    });

    test('starts anew what had given up', async () => {
      await cp.register('w', playbook({ a: step('in/{x}', 'a/{x}') }));
      await cp.see({ 'in/1': '1' });
      await cp.fail(await cp.claimOne());
      expect(await cp.claim()).toEqual([]);
      await start();
      expect(names(await cp.claim())).toEqual(['a@1']);
    });

    test('makes due what is never the same twice, and nothing else does', async () => {
      await cp.register(
        'w',
        playbook({ dice: step('in/{x}', 'd/{x}', { deterministic: false }), ping: { cmd: 'ping' } }),
      );
      await cp.see({ 'in/1': '1' });
      expect((await cp.settle()).toSorted()).toEqual(['dice@1', 'ping']);
      await cp.see({ 'in/1': '1' });
      expect(await cp.claim()).toEqual([]);
      await start();
      expect(await cp.reasons('ping')).toEqual([expect.stringContaining('runs every time')]);
      expect((await cp.settle()).toSorted()).toEqual(['dice@1', 'ping']);
    });

    test('rouses an action when what it comes after has made something', async () => {
      await cp.register('w', playbook({ a: step('in/{x}', 'a/{x}'), tell: { cmd: 'tell', after: ['a'] } }));
      await cp.see({ 'in/1': '1' });
      expect(await cp.settle()).toEqual(['a@1', 'tell']);
      await cp.see({ 'in/1': '2' });
      await cp.make(await cp.claimOne());
      expect(await cp.reasons('tell')).toEqual(["'a', which it comes after, ran"]);
      expect(await cp.settle()).toEqual(['tell']);
    });

    test('ends with its counts, once', async () => {
      await made();
      const { id } = await start();
      const counts = { stages_run: 1, stages_cached: 3, stages_failed: 0, total_seconds: 1.5 };
      expect(await cp.post(`/api/runs/${id}/end`, { status: 'completed', counts })).toEqual({ ended: id });
      const again = await cp.request('POST', `/api/runs/${id}/end`, { status: 'failed', counts });
      expect(again.status).toBe(404);
      const list = await cp.get('/api/workflows/w/runs');
      expect(list).toMatchObject([{ id, status: 'completed', counts, cause: 'test' }]);
      expect(await cp.events()).toEqual(expect.arrayContaining(['run_started', 'run_completed']));
    });

    test('of a stage that does not exist is refused with the nearest name', async () => {
      await made();
      const answer = await cp.request('POST', '/api/workflows/w/runs', { cause: 'x', stage: 'othr' });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'unknown-stage', nearest: 'other' });
    });
  });
}
