// What registering, changing, pausing and removing a workflow does to what is known of it.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, playbook, step } from '../../rig/control-plane.ts';

export function registrationBehaviours(cp: ControlPlane): void {
  describe('a new workflow', () => {
    test('is answered with its name, place, stages and the hash of its definition', async () => {
      const answer = await cp.register('w', CHAIN, { root: '/data', target: 'gpu-1' });
      expect(answer).toMatchObject({ name: 'w', root: '/data', target: 'gpu-1', paused: false });
      expect(answer).toMatchObject({ stages: ['clean', 'count'], warnings: [] });
      expect(answer.definition).toMatch(/^blake3:[0-9a-f]{64}$/);
      expect(answer.changes).toEqual({ added: ['clean', 'count'], removed: [], rewired: [], changed: [] });
      expect(await cp.get('/api/workflows/w')).toEqual((await cp.get<unknown[]>('/api/workflows'))[0]);
    });

    test('reads its paths below its root, on its target', async () => {
      await cp.register('w', CHAIN, { root: '/data', target: 'gpu-1' });
      await cp.see({ '/p/raw/a.txt': 'a' }, 'gpu-1');
      await cp.see({ '/data/raw/b.txt': 'b' }, 'local');
      await cp.see({ '/data/raw/c.txt': 'c' }, 'gpu-1');
      expect(await cp.words()).toEqual({ 'clean@c': 'stale', 'count@c': 'waiting' });
      expect(await cp.claim({ targets: ['local'] })).toEqual([]);
      expect(await cp.claim({ targets: ['gpu-1'] })).toMatchObject([{ entity: 'c', root: '/data' }]);
    });

    test('has a stage without variables at once, waiting for the file it names', async () => {
      await cp.register('w', playbook({ one: step('in.txt', 'out.txt') }));
      expect(await cp.words()).toEqual({ one: 'waiting' });
      expect((await cp.why('one')).waits_for).toEqual(['in.txt']);
    });

    test('may be called anything, slashes included', async () => {
      for (const name of ['team/blog', 'ö 日本', 'a/states', 'x/runs', 'pause', 'a\nb']) {
        await cp.register(name, CHAIN, { root: `/${encodeURIComponent(name)}` });
        expect(await cp.get(`/api/workflows/${encodeURIComponent(name)}`)).toMatchObject({ name });
        expect(await cp.status(name)).toMatchObject({ entities: 0 });
      }
      expect(await cp.get('/api/workflows/team/blog')).toMatchObject({ name: 'team/blog' });
    });
  });

  describe('a file with mistakes', () => {
    test('is refused with every mistake at its line and column, and changes nothing', async () => {
      await cp.register('w', CHAIN);
      const before = await cp.get('/api/workflows/w');
      const response = await cp.tryRegister(
        'w',
        'version: "1.0"\nstages:\n  a:\n    cmdd: x\n    outs: [o]\n',
      );
      expect(response.status).toBe(422);
      expect(response.headers.get('Content-Type')).toBe('application/problem+json');
      const problem = (await response.json()) as { errors: object[] };
      expect(problem).toMatchObject({ code: 'invalid-workflow' });
      expect(problem.errors[0]).toMatchObject({
        line: 4,
        column: 5,
        code: 'unknown-key',
        hint: expect.stringContaining("'cmd'"),
      });
      expect(await cp.get('/api/workflows/w')).toEqual(before);
      expect(await cp.get('/api/workflows/w/definitions')).toHaveLength(1);
    });

    test('that is not YAML at all is told where', async () => {
      const response = await cp.tryRegister('w', 'stages: [1, 2\n');
      expect(response.status).toBe(422);
      const { errors } = (await response.json()) as { errors: { line: number; message: string }[] };
      expect(errors[0]).toMatchObject({ line: expect.any(Number), message: expect.stringMatching(/./) });
      expect(await cp.get('/api/workflows')).toEqual([]);
    });

    test('that is a settings file is called that', async () => {
      const response = await cp.tryRegister('w', 'executor:\n  max_concurrency: 2\n');
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: 'this is a settings file, not a workflow' });
    });

    test.each([
      ['a root that is not absolute', '/api/workflows/w?root=p'],
      ["a root with '..'", '/api/workflows/w?root=/a/../b'],
      ['no root', '/api/workflows/w'],
      ['an unknown query', '/api/workflows/w?root=/p&at=2026-01-01'],
    ])('%s is refused', async (_title, path) => {
      const response = await cp.request('PUT', path, CHAIN);
      expect(response.status).toBe(400);
      expect(await cp.get('/api/workflows')).toEqual([]);
    });
  });

  describe('a changed definition', () => {
    const withParams = (one: number, cmds = {}) =>
      playbook(
        {
          a: { ...step('raw/{x}.txt', 'a/{x}.txt'), cmd: 'a {{params.one}}', ...cmds },
          b: { ...step('raw/{x}.txt', 'b/{x}.txt'), cmd: 'b {{params.two}}' },
        },
        { params: { one, two: 2 } },
      );

    test('makes exactly the states of a stage stale whose command changed, and says so', async () => {
      await cp.register('w', withParams(1));
      await cp.see({ 'raw/x.txt': 'x', 'raw/y.txt': 'y' });
      await cp.settle();
      const { changes } = await cp.register('w', withParams(1, { cmd: 'better {{params.one}}' }));
      expect(changes.changed).toEqual([{ stage: 'a', reasons: [{ reason: 'cmd-changed' }] }]);
      expect(await cp.words()).toEqual({ 'a@x': 'stale', 'b@x': 'fresh', 'a@y': 'stale', 'b@y': 'fresh' });
      expect(await cp.reasons('a', 'x')).toEqual(['cmd_hash changed (command template modified)']);
    });

    test('makes exactly the states stale that use a changed param, from the old value to the new', async () => {
      await cp.register('w', withParams(1));
      await cp.see({ 'raw/x.txt': 'x' });
      await cp.settle();
      await cp.register('w', withParams(7));
      expect(await cp.words()).toEqual({ 'a@x': 'stale', 'b@x': 'fresh' });
      expect(await cp.reasons('a', 'x')).toEqual(['params_hash changed: one 1 → 7']);
    });

    test('that only asks for other resources, retries or priority makes nothing stale', async () => {
      await cp.register('w', withParams(1));
      await cp.see({ 'raw/x.txt': 'x' });
      await cp.settle();
      const more = { resources: { cores: 3 }, retry: { limit: 9 }, priority: 4, description: 'better' };
      const { changes } = await cp.register('w', withParams(1, more));
      expect(changes).toEqual({ added: [], removed: [], rewired: [], changed: [] });
      expect(await cp.words()).toEqual({ 'a@x': 'fresh', 'b@x': 'fresh' });
    });

    test('that arrives while a state is being made leaves the result stale', async () => {
      await cp.register('w', withParams(1));
      await cp.see({ 'raw/x.txt': 'x' });
      const item = await cp.claimOne({ stages: ['a'] });
      await cp.register('w', withParams(2));
      expect(await cp.make(item)).toBe('stale');
      expect(await cp.words()).toMatchObject({ 'a@x': 'stale' });
    });

    test('with other paths finds its states anew when its files are reported again', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/x.txt': 'x', 'raw/y.txt': 'y' });
      await cp.settle();
      const moved = playbook({
        clean: step('inbox/{x}.txt', 'clean/{x}.txt'),
        count: step('clean/{x}.txt', 'counts/{x}.txt'),
      });
      const { changes } = await cp.register('w', moved);
      expect(changes).toMatchObject({ rewired: ['clean'], changed: [] });
      expect(await cp.words()).toMatchObject({ 'clean@x': 'orphan', 'clean@y': 'orphan' });
      expect(await cp.claim()).toEqual([]);
      await cp.see({ 'inbox/x.txt': 'x' });
      expect(await cp.words()).toMatchObject({ 'clean@x': 'stale', 'clean@y': 'orphan' });
      await cp.settle();
      expect(await cp.words()).toMatchObject({ 'clean@x': 'fresh', 'clean@y': 'orphan' });
    });

    test('without a stage has no states of it any more', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/x.txt': 'x' });
      await cp.settle();
      const { changes } = await cp.register('w', playbook({ clean: step('raw/{x}.txt', 'clean/{x}.txt') }));
      expect(changes.removed).toEqual(['count']);
      expect(await cp.words()).toEqual({ 'clean@x': 'fresh' });
      expect((await cp.status()).stages).toEqual({ clean: expect.objectContaining({ fresh: 1 }) });
    });

    test('leaves the old one readable, with who registered it', async () => {
      const first = await cp.register('w', withParams(1));
      const second = await cp.register('w', withParams(2));
      const list = await cp.get<{ definition: string }[]>('/api/workflows/w/definitions');
      expect(new Set(list.map(({ definition }) => definition))).toEqual(
        new Set([first.definition, second.definition]),
      );
      const old = await cp.get(`/api/definitions/${first.definition}`);
      expect(old).toMatchObject({ workflow: 'w', source: withParams(1), definition: first.definition });
    });

    test('that is registered again as it was changes nothing', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/x.txt': 'x' });
      await cp.settle();
      await cp.register('w', CHAIN);
      expect(await cp.words()).toEqual({ 'clean@x': 'fresh', 'count@x': 'fresh' });
      expect(await cp.claim()).toEqual([]);
    });
  });
}
