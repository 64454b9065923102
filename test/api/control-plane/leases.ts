// Leases: kept by heartbeats, lost by silence, and only their holder's word counts.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function leaseBehaviours(cp: ControlPlane): void {
  const one = async () => {
    await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
    await cp.see({ 'raw/a.txt': 'a' });
  };
  const complete = (runner: string, ...items: object[]) =>
    cp.request('POST', '/api/work/complete', { runner, items });

  describe('a lease', () => {
    test('that runs out is given to another by the next claim, with a greater token', async () => {
      await one();
      const first = await cp.claimOne();
      expect(await cp.claim({ runner: 'r2' })).toEqual([]);
      await cp.passTime(61_000);
      const second = await cp.claimOne({ runner: 'r2' });
      expect(second.token).toBeGreaterThan(first.token);
      expect(await cp.heartbeat([first])).toEqual({ kept: [], lost: [first.token] });
      expect(await cp.events()).toContain('stage_lost');
    });

    test('is as long as was asked for', async () => {
      await one();
      await cp.claimOne({ lease_seconds: 300 });
      await cp.passTime(299_000);
      expect(await cp.claim({ runner: 'r2' })).toEqual([]);
      await cp.passTime(2_000);
      expect(await cp.claim({ runner: 'r2' })).toHaveLength(1);
    });

    test('is kept by heartbeats for as long as they come', async () => {
      await one();
      const item = await cp.claimOne();
      for (let i = 0; i < 5; i++) {
        await cp.passTime(40_000);
        expect(await cp.heartbeat([item])).toEqual({ kept: [item.token], lost: [] });
      }
      expect(await cp.claim({ runner: 'r2' })).toEqual([]);
      expect(await cp.make(item)).toBe('fresh');
    });

    test('cannot be kept by another runner', async () => {
      await one();
      const item = await cp.claimOne();
      expect(await cp.heartbeat([item], 'r2')).toEqual({ kept: [], lost: [item.token] });
    });

    test('lost five times in a row is not tried again by itself, and is told as that', async () => {
      await one();
      for (let i = 0; i < 5; i++) {
        expect(names(await cp.claim())).toEqual(['clean@a']);
        await cp.passTime(61_000);
      }
      expect(await cp.claim()).toEqual([]);
      expect((await cp.states())[0]).toMatchObject({
        status: 'exhausted',
        error: expect.stringContaining('vanished 5 times'),
      });
      expect(await cp.post('/api/pipeline/w/entity/a/retry', {})).toEqual({ status: 'queued', retried: 1 });
      expect(await cp.make(await cp.claimOne())).toBe('fresh');
    });

    test('given back is to be had at once, and costs no attempt', async () => {
      await one();
      const item = await cp.claimOne();
      expect(await cp.release(item)).toBe('released');
      expect(await cp.release(item)).toBe('released');
      expect(await cp.claimOne({ runner: 'r2' })).toMatchObject({ entity: 'a', failures: 0 });
    });
  });

  describe('a result', () => {
    test('makes the state fresh and what is behind it claimable', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const item = await cp.claimOne();
      expect(await cp.make(item, { text: 'made', seconds: 2 })).toBe('fresh');
      const [state] = await cp.states();
      expect(state).toMatchObject({ status: 'fresh', reasons: [], runner: null, lease_until: null });
      expect(state!.content_hash).toBe((await cp.result(item, { text: 'made' })).content_hash);
      expect(names(await cp.claim())).toEqual(['count@a']);
    });

    test('sent again gets its first answer, and counts once', async () => {
      await one();
      const item = await cp.claimOne();
      const result = await cp.result(item);
      const first = await (await complete('r1', result)).json();
      await cp.see({ 'raw/a.txt': 'A' });
      const again = await complete('r1', result);
      expect(again.status).toBe(200);
      expect(await again.json()).toEqual(first);
      expect((await cp.events()).filter((event) => event === 'stage_completed')).toHaveLength(1);
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
    });

    test('that comes after its lease went to another is refused with 409 and changes nothing', async () => {
      await one();
      const late = await cp.result(await cp.claimOne());
      await cp.passTime(61_000);
      const current = await cp.claimOne({ runner: 'r2' });
      const before = await cp.states();
      const answer = await complete('r1', late);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({ code: 'lease-lost', results: [{ result: 'lost' }] });
      expect(await cp.states()).toEqual(before);
      expect(await cp.make(current, { runner: 'r2' })).toBe('fresh');
    });

    test('that comes late but before anybody else asked still counts', async () => {
      await one();
      const item = await cp.claimOne();
      await cp.passTime(600_000);
      expect(await cp.make(item)).toBe('fresh');
    });

    test('of another runner with the right token is refused with 409', async () => {
      await one();
      const item = await cp.claimOne();
      expect((await complete('r2', await cp.result(item))).status).toBe(409);
      for (const act of ['fail', 'release']) {
        const tokens = { tokens: [item.token] };
        const failure = { items: [{ token: item.token, outcome: { kind: 'error' }, error: 'x' }] };
        const body = { runner: 'r2', ...(act === 'fail' ? failure : tokens) };
        expect((await cp.request('POST', `/api/work/${act}`, body)).status).toBe(409);
      }
      expect(await cp.words()).toEqual({ 'clean@a': 'running' });
    });

    test('with a token nobody ever had is refused with 409', async () => {
      await one();
      const result = await cp.result(await cp.claimOne());
      expect((await complete('r1', { ...result, token: result.token + 1_000 })).status).toBe(409);
    });

    test('of several is answered one by one: those still held count, the others are lost', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const [a, b] = await cp.claim();
      await cp.release(b!);
      await cp.claim({ runner: 'r2' });
      const answer = await complete('r1', await cp.result(a!), { ...(await cp.result(b!)), outcome: 'made' });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ results: [{ result: 'fresh' }, { result: 'released' }] });
      expect(await cp.words()).toMatchObject({ 'clean@a': 'fresh', 'clean@b': 'running' });
    });
  });
}
