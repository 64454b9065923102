// Several workflows in one database, and one that is paused, removed and brought back.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function workflowBehaviours(cp: ControlPlane): void {
  describe('workflows whose paths meet', () => {
    test('chain: what one makes is the source of the other', async () => {
      await cp.register('first', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.register('second', playbook({ count: step('clean/{x}.txt', 'counts/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.words('second')).toEqual({ 'count@a': 'waiting' });
      expect(await cp.settle()).toEqual(['clean@a', 'count@a']);
      await cp.see({ 'raw/a.txt': 'b' });
      expect((await cp.why('count', 'a', 'second')).upstream).toMatchObject([
        { workflow: 'first', stage: 'clean', entity: 'a' },
      ]);
    });

    test('chain whichever of them is registered first', async () => {
      await cp.register('second', playbook({ count: step('clean/{x}.txt', 'counts/{x}.txt') }));
      await cp.register('first', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.settle()).toEqual(['clean@a', 'count@a']);
    });

    test('do not chain on other targets', async () => {
      await cp.register('first', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.register('second', playbook({ count: step('clean/{x}.txt', 'counts/{x}.txt') }), {
        target: 'far',
      });
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.words('second')).toEqual({});
    });

    test('in a circle are refused by the name of the loop, and nothing is changed', async () => {
      await cp.register('first', playbook({ there: step('a/{x}.txt', 'b/{x}.txt') }));
      const response = await cp.tryRegister('second', playbook({ back: step('b/{x}.txt', 'a/{x}.txt') }));
      expect(response.status).toBe(409);
      const problem = (await response.json()) as { code: string; detail: string };
      expect(problem.code).toBe('cycle');
      expect(problem.detail).toMatch(/first#there/);
      expect(problem.detail).toMatch(/second#back/);
      expect(await cp.get('/api/workflows')).toMatchObject([{ name: 'first' }]);
    });

    test('and may write one path are warned, naming both stages', async () => {
      await cp.register('first', playbook({ one: step('a/{x}.txt', 'out/{x}.txt') }));
      const { warnings } = await cp.register('second', playbook({ two: step('b/{x}.txt', 'out/{x}.txt') }));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/first#one and second#two may both write/);
    });

    test('and do write one path: the second gives up, naming the first and the path', async () => {
      await cp.register('first', playbook({ one: step('a/{x}.txt', 'out/{x}.txt') }));
      await cp.register('second', playbook({ two: step('b/{x}.txt', 'out/{x}.txt') }));
      await cp.see({ 'a/same.txt': '1' });
      await cp.see({ 'b/same.txt': '2', 'b/other.txt': '3' });
      expect(await cp.words('second')).toEqual({ 'two@same': 'exhausted', 'two@other': 'stale' });
      expect((await cp.reasons('two', 'same', 'second')).join()).toMatch(/writes \/p\/out\/same.txt/);
      expect((await cp.reasons('two', 'same', 'second')).join()).toMatch(/first#one/);
      expect((await cp.settle()).toSorted()).toEqual(['one@same', 'two@other']);
    });

    test('and write one path stay apart, whatever is asked or changes, until one of them is gone', async () => {
      await cp.register('first', playbook({ one: step('a/{x}.txt', 'out/{x}.txt') }));
      await cp.register('second', playbook({ two: step('b/{x}.txt', 'out/{x}.txt') }));
      await cp.see({ 'a/same.txt': '1' });
      await cp.see({ 'b/same.txt': '2' });
      await cp.settle();
      await cp.see({ 'b/same.txt': 'changed' });
      await cp.post('/api/pipeline/second/entity/same/retry', {});
      await cp.invalidate({}, 'second');
      await cp.post('/api/workflows/second/runs', { force: true, cause: 'test' });
      expect(await cp.claim()).toEqual([]);
      expect((await cp.reasons('two', 'same', 'second')).join()).toMatch(/first#one/);
      await cp.ask('DELETE', '/api/workflows/first');
      await cp.see({ 'b/same.txt': 'changed' });
      expect(await cp.settle()).toEqual(['two@same']);
      expect(await cp.words('second')).toEqual({ 'two@same': 'fresh' });
    });

    test('of one workflow may overlap until a concrete path collides', async () => {
      const { warnings } = await cp.register(
        'w',
        playbook({ each: step('in/{x}.txt', 'out/{x}.txt'), summary: step('all.txt', 'out/summary.txt') }),
      );
      expect(warnings).toEqual([]);
      await cp.see({ 'in/a.txt': 'a', 'all.txt': 'all' });
      expect(await cp.words()).toEqual({ 'each@a': 'stale', summary: 'stale' });
      await cp.see({ 'in/summary.txt': 's' });
      expect(await cp.words()).toMatchObject({ 'each@summary': 'exhausted', summary: 'stale' });
    });
  });

  describe('a paused workflow', () => {
    test('hands out nothing, says so, and goes on after it is resumed', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const running = await cp.claimOne();
      expect(await cp.post('/api/workflows/w/pause', {})).toMatchObject({ name: 'w', paused: true });
      expect((await cp.status()).paused).toBe(true);
      expect(await cp.claim()).toEqual([]);
      expect(await cp.make(running)).toBe('fresh');
      expect(await cp.claim()).toEqual([]);
      expect(await cp.post('/api/workflows/w/resume', {})).toMatchObject({ paused: false });
      expect(await cp.settle()).toHaveLength(3);
      expect(await cp.events()).toEqual(expect.arrayContaining(['workflow_paused', 'workflow_resumed']));
    });

    test('does not hold up another', async () => {
      await cp.register('w', CHAIN);
      await cp.register('v', CHAIN, { root: '/v' });
      await cp.see({ 'raw/a.txt': 'a', '/v/raw/a.txt': 'a' });
      await cp.post('/api/workflows/w/pause', {});
      expect(await cp.claim()).toMatchObject([{ workflow: 'v' }]);
    });
  });

  describe('a removed workflow', () => {
    test('is gone, while its history can still be read', async () => {
      const { definition } = await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.settle();
      expect(await cp.ask('DELETE', '/api/workflows/w')).toEqual({ removed: 'w', history: 'keep' });
      expect((await cp.request('GET', '/api/workflows/w')).status).toBe(404);
      expect((await cp.request('GET', '/api/pipeline/w/status')).status).toBe(404);
      expect((await cp.request('DELETE', '/api/workflows/w')).status).toBe(404);
      expect(await cp.claim()).toEqual([]);
      expect(await cp.get(`/api/definitions/${definition}`)).toMatchObject({ workflow: 'w' });
      expect(await cp.events()).toEqual(expect.arrayContaining(['stage_completed', 'workflow_removed']));
    });

    test('that comes back finds its history, begins anew, and gives out greater tokens', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const before = await cp.claimOne();
      await cp.make(before);
      await cp.ask('DELETE', '/api/workflows/w');
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      expect(await cp.words()).toEqual({ 'clean@a': 'stale', 'count@a': 'waiting' });
      const after = await cp.claimOne();
      expect(after.token).toBeGreaterThan(before.token);
      expect(await cp.get('/api/workflows/w/definitions')).toHaveLength(1);
      expect(await cp.get('/api/workflows/w/attempts?stage=clean&entity=a')).toMatchObject([
        { token: after.token, outcome: null },
        { token: before.token, outcome: 'made' },
      ]);
      expect(await cp.status()).toMatchObject({ entities: 1, processing: 1, waiting: 1 });
    });

    test('with its history dropped leaves nothing behind, and its tokens are never given again', async () => {
      const { definition } = await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const before = await cp.claimOne();
      expect(await cp.ask('DELETE', '/api/workflows/w?history=drop')).toMatchObject({ history: 'drop' });
      expect((await cp.request('GET', `/api/definitions/${definition}`)).status).toBe(404);
      expect(await cp.events()).toEqual([]);
      for (const table of ['attempts', 'states', 'inputs', 'paths', 'entities', 'counts', 'stage_links'])
        expect(await cp.rows(`SELECT * FROM ${table}`)).toEqual([]);
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      expect((await cp.claimOne()).token).toBeGreaterThan(before.token);
    });

    test('lets a result that comes too late count for nothing', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const item = await cp.claimOne();
      const result = await cp.result(item);
      await cp.ask('DELETE', '/api/workflows/w');
      const late = await cp.request('POST', '/api/work/complete', { runner: 'r1', items: [result] });
      expect(late.status).toBe(409);
      expect(await cp.events()).toContain('stage_lost');
    });

    test('leaves the others as they were', async () => {
      await cp.register('first', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      await cp.register('second', playbook({ count: step('clean/{x}.txt', 'counts/{x}.txt') }));
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const items = await cp.claim();
      await cp.make(items[0]!);
      await cp.ask('DELETE', '/api/workflows/first');
      // What was made is still there, now as somebody's file; what was not is missing.
      expect(await cp.words('second')).toEqual({ 'count@a': 'stale', 'count@b': 'waiting' });
      expect(names(await cp.claim())).toEqual(['count@a']);
      expect((await cp.why('count', 'b', 'second')).waits_for).toEqual(['clean/b.txt']);
    });
  });
}
