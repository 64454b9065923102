// What a result says about freshness, and what failures lead to.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, h, names, playbook, step } from '../../rig/control-plane.ts';

export function resultBehaviours(cp: ControlPlane): void {
  const one = async (more: object = {}) => {
    await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt', more) }));
    await cp.see({ 'raw/a.txt': 'a' });
  };
  const recordsKept = async () => {
    const rows = await cp.rows(
      "SELECT 'blake3:' || lower(hex(cache_key)) AS key FROM records ORDER BY token",
    );
    return rows.map(({ key }) => key);
  };

  describe('a result', () => {
    test('whose input changed meanwhile is stale on arrival, and kept as a record', async () => {
      await one();
      const item = await cp.claimOne();
      const result = await cp.result(item, { key: 'k' });
      await cp.see({ 'raw/a.txt': 'changed' });
      const answer = await cp.post('/api/work/complete', { runner: 'r1', items: [result] });
      expect(answer).toMatchObject({ results: [{ result: 'stale' }] });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
      expect(await cp.reasons('clean', 'a')).toEqual([expect.stringContaining('raw/a.txt')]);
      expect(await recordsKept()).toEqual([h('k')]);
      expect(await cp.settle()).toEqual(['clean@a']);
      expect(await cp.words()).toEqual({ 'clean@a': 'fresh' });
    });

    test('whose input changed to exactly what was read is fresh', async () => {
      await one();
      const item = await cp.claimOne();
      await cp.see({ 'raw/a.txt': 'newer' });
      expect(await cp.make(item, { read: { 'raw/a.txt': 'newer' } })).toBe('fresh');
      expect(await cp.claim()).toEqual([]);
    });

    test('that read newer bytes than any watcher has reported is believed', async () => {
      await one();
      expect(await cp.make(await cp.claimOne(), { read: { 'raw/a.txt': 'newer' } })).toBe('fresh');
      expect(await cp.see({ 'raw/a.txt': 'newer' })).toMatchObject({ changed: 0 });
      expect(await cp.words()).toEqual({ 'clean@a': 'fresh' });
      await cp.see({ 'raw/a.txt': 'newest' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
    });

    test('that was only verified is fresh, and its production stays what it was', async () => {
      await one();
      await cp.make(await cp.claimOne(), { text: 'made', key: 'k' });
      await cp.invalidate();
      const item = await cp.claimOne({ runner: 'r2' });
      expect(await cp.make(item, { runner: 'r2', outcome: 'verified', text: 'made', key: 'k' })).toBe(
        'fresh',
      );
      expect(await cp.rows('SELECT produced_by FROM states')).toEqual([{ produced_by: 'r1' }]);
      expect(await cp.events()).toContain('stage_cached');
      expect(await recordsKept()).toHaveLength(1);
    });

    test('that was skipped is settled without an output, until its input changes', async () => {
      await one();
      expect(await cp.make(await cp.claimOne(), { outcome: 'skipped', outs: [] })).toBe('skipped');
      expect(await cp.words()).toEqual({ 'clean@a': 'skipped' });
      await cp.see({ 'raw/a.txt': 'A' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
    });

    test('that was skipped settles all that cannot be made without it, however far down, until there is an output', async () => {
      const chain = {
        pick: step('raw/{x}.txt', 'pick/{x}.txt'),
        loud: step('pick/{x}.txt', 'loud/{x}.txt'),
        last: step('loud/{x}.txt', 'last/{x}.txt'),
        all: step('last/{x}.txt', 'all.txt'),
      };
      await cp.register('w', playbook(chain));
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const [a, b] = await cp.claim();
      await cp.make(a!);
      await cp.make(b!, { outcome: 'skipped', outs: [] });
      expect(await cp.words()).toMatchObject({ 'loud@b': 'skipped', 'last@b': 'skipped', 'loud@a': 'stale' });
      expect(await cp.settle()).toEqual(['loud@a', 'last@a', 'all']);
      // A stage that comes to be below it later finds it skipped already.
      await cp.register('w', playbook({ ...chain, more: step('last/{x}.txt', 'more/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      expect(await cp.settle()).toEqual(['more@a']);
      expect(await cp.words()).toMatchObject({ 'more@b': 'skipped', all: 'fresh' });
      await cp.see({ 'raw/b.txt': 'B' });
      expect(await cp.words()).toMatchObject({ 'pick@b': 'stale', 'loud@b': 'skipped' });
      expect((await cp.settle()).toSorted()).toEqual(['all', 'last@b', 'loud@b', 'more@b', 'pick@b']);
      expect(new Set(Object.values(await cp.words()))).toEqual(new Set(['fresh']));
    });

    test('cannot speak of files that its state does not make', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const [item] = await cp.claim({ limit: 1 });
      const { outs } = await cp.result(item!);
      const foreign = ['/p/raw/b.txt', '/p/clean/b.txt', '/etc/passwd'].map((path) => ({
        ...{ path, hash: h('forged'), size: 6 },
      }));
      expect(await cp.make(item!, { outs: [...outs, ...foreign] })).toBe('fresh');
      expect(await cp.rows('SELECT path FROM paths WHERE hash = unhex(?)', h('forged').slice(7))).toEqual([]);
      expect(await cp.words()).toMatchObject({ 'clean@b': 'stale', 'count@b': 'waiting' });
    });

    test('cannot speak of inputs that its state does not read', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      await cp.make(await cp.claimOne(), { read: { 'raw/b.txt': 'forged' } });
      expect(await cp.rows('SELECT path FROM paths WHERE hash = unhex(?)', h('forged').slice(7))).toEqual([]);
    });

    test('is remembered beside the last three with other keys', async () => {
      await one();
      for (const key of ['k1', 'k2', 'k3', 'k4', 'k5', 'k6']) {
        await cp.see({ 'raw/a.txt': key });
        await cp.make(await cp.claimOne(), { key });
      }
      expect(await recordsKept()).toEqual(['k3', 'k4', 'k5', 'k6'].map(h));
    });

    test('of cleaning is no result of making, and the other way round', async () => {
      await one();
      const item = await cp.claimOne();
      const cleaned = { token: item.token, outcome: 'cleaned' };
      const answer = await cp.request('POST', '/api/work/complete', { runner: 'r1', items: [cleaned] });
      expect(answer.status).toBe(409);
      expect(await cp.words()).toEqual({ 'clean@a': 'running' });
    });
  });

  describe('a failure', () => {
    const RETRY = { retry: { limit: 2, backoff: { initial: '10s', factor: 3 } } };

    test('waits by the rule of its stage, then exhausts', async () => {
      await one(RETRY);
      const waits: (number | null)[] = [];
      for (let i = 0; i < 3; i++) {
        const began = cp.shape.parts?.nowMs() ?? Date.now();
        const { retry_at } = await cp.fail(await cp.claimOne(), { error: `boom ${i}` });
        waits.push(retry_at === null ? null : Math.round((retry_at! - began) / 1_000));
        await cp.passTime(31_000);
      }
      expect(waits).toEqual([10, 30, null]);
      expect(await cp.claim()).toEqual([]);
      expect((await cp.states())[0]).toMatchObject({ status: 'exhausted', attempts: 3, error: 'boom 2' });
      expect(await cp.status()).toMatchObject({ failed: 1, exhausted: 1 });
    });

    test('is told with its attempt, error, exit code and the end of its log', async () => {
      await one(RETRY);
      await cp.fail(await cp.claimOne(), { error: 'no such tool' });
      const entity = await cp.get<{ failures: object }>('/api/pipeline/w/entity/a');
      expect(entity.failures).toMatchObject({ clean: { error: 'no such tool', attempts: 1 } });
      expect(await cp.reasons('clean', 'a')).toContain('last attempt failed (attempt 1): no such tool');
      const attempts = await cp.get('/api/workflows/w/attempts?stage=clean&entity=a');
      expect(attempts).toMatchObject([{ outcome: 'failed', exit_code: 3, log_tail: '… no such tool' }]);
      expect(await cp.why('clean', 'a')).toMatchObject({ word: 'failed', cause: 'retry' });
    });

    test('of another key starts counting anew', async () => {
      await one(RETRY);
      await cp.fail(await cp.claimOne(), { key: 'old' });
      await cp.passTime(11_000);
      await cp.see({ 'raw/a.txt': 'A' });
      const item = await cp.claimOne();
      expect(item).toMatchObject({ failures: 1, failed_key: h('old') });
      await cp.fail(item, { key: 'new' });
      expect((await cp.states())[0]).toMatchObject({ attempts: 1 });
    });

    test('that gave up is tried again when its input changes, at once', async () => {
      await one();
      await cp.fail(await cp.claimOne());
      expect(await cp.words()).toEqual({ 'clean@a': 'exhausted' });
      await cp.see({ 'raw/a.txt': 'A' });
      expect(await cp.make(await cp.claimOne())).toBe('fresh');
      expect((await cp.states())[0]).toMatchObject({ attempts: 0, error: null });
    });

    test('while its input changed is stale rather than failed', async () => {
      await one(RETRY);
      const item = await cp.claimOne();
      await cp.see({ 'raw/a.txt': 'A' });
      await cp.fail(item);
      expect(await cp.words()).toEqual({ 'clean@a': 'stale' });
      expect(names(await cp.claim())).toEqual(['clean@a']);
    });

    test('upstream blocks what is behind it, which has not failed', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const [item] = await cp.claim({ limit: 1 });
      await cp.fail(item!);
      expect(await cp.status()).toMatchObject({ exhausted: 1, failed: 1, blocked: 1 });
      expect(await cp.why('count', 'a')).toMatchObject({ word: 'blocked', blocked_by: [{ stage: 'clean' }] });
      expect(await cp.settle()).toEqual(['clean@b', 'count@b']);
    });

    test('sent again gets its first answer, and counts once', async () => {
      await one(RETRY);
      const item = await cp.claimOne();
      expect(await cp.fail(item)).toMatchObject({ result: 'retry' });
      expect(await cp.fail(item)).toMatchObject({ result: 'retry' });
      expect((await cp.states())[0]).toMatchObject({ attempts: 1 });
    });

    test('may end by a signal, a time-out, or without an end of its own', async () => {
      for (const outcome of [{ kind: 'signal', signal: 'SIGKILL' }, { kind: 'timeout' }, { kind: 'error' }]) {
        await one({ retry: { limit: 1, policy: 'on_timeout' } });
        await cp.see({ 'raw/a.txt': outcome.kind });
        const { result } = await cp.fail(await cp.claimOne(), { outcome, key: outcome.kind });
        expect(result).toBe(outcome.kind === 'timeout' ? 'retry' : 'exhausted');
      }
    });
  });

  describe('asking again', () => {
    const failAll = async () => {
      await cp.register('w', playbook({ p: step('in/{x}', 'p/{x}'), q: step('in/{x}', 'q/{x}') }));
      await cp.see({ 'in/1': '1', 'in/2': '2' });
      for (const item of await cp.claim()) await cp.fail(item);
      expect(await cp.claim()).toEqual([]);
    };

    test('retries what failed of one entity', async () => {
      await failAll();
      expect(await cp.post('/api/pipeline/w/entity/1/retry', {})).toEqual({ status: 'queued', retried: 2 });
      expect(names(await cp.claim())).toEqual(['p@1', 'q@1']);
    });

    test.each([
      ['a stage', { stage_id: 'q' }, ['q@1', 'q@2']],
      ['a stage of one entity', { stage_id: 'q', entity_id: '2' }, ['q@2']],
      ['the whole workflow', {}, ['p@1', 'p@2', 'q@1', 'q@2']],
    ])('retries what failed of %s', async (_what, body, expected) => {
      await failAll();
      expect(await cp.post('/api/pipeline/w/retry', body)).toEqual({
        status: 'queued',
        retried: expected.length,
      });
      expect(names(await cp.claim()).toSorted()).toEqual(expected);
      expect(await cp.post('/api/pipeline/w/retry', body)).toEqual({ status: 'queued', retried: 0 });
    });

    test('invalidates by entity, by stage, by both, and the whole workflow', async () => {
      await cp.register('w', playbook({ p: step('in/{x}', 'p/{x}'), q: step('in/{x}', 'q/{x}') }));
      await cp.see({ 'in/1': '1', 'in/2': '2' });
      for (const [what, expected] of [
        [{ entity_id: '1' }, ['p@1', 'q@1']],
        [{ stage_id: 'q' }, ['q@1', 'q@2']],
        [{ stage_id: 'q', entity_id: '2' }, ['q@2']],
        [{}, ['p@1', 'p@2', 'q@1', 'q@2']],
      ] as const) {
        await cp.settle();
        expect(await cp.invalidate(what)).toEqual({ invalidated: expected.length });
        const claimed = await cp.claim();
        expect(names(claimed).toSorted()).toEqual(expected);
        expect(claimed[0]!.reasons).toMatchObject([{ reason: 'invalidated' }]);
        for (const item of claimed) await cp.make(item);
      }
    });

    test.each([
      ['stage', { stage_id: 'r' }, "did you mean 'p'"],
      ['entity', { entity_id: '11' }, "did you mean '1'"],
    ])('names the nearest %s if there is none of that name', async (what, body, hint) => {
      await failAll();
      const answer = await cp.request('POST', '/api/pipeline/w/invalidate', body);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        code: `unknown-${what}`,
        hint: expect.stringContaining(hint),
      });
    });
  });
}
