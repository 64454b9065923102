// What is handed out, to whom, in which order; and what is not.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, names, playbook, step } from '../../rig/control-plane.ts';

export function claimBehaviours(cp: ControlPlane): void {
  describe('the order', () => {
    test('is by entity: early ones finish early', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.see({ 'raw/b.txt': 'b' });
      const order: string[] = [];
      for (let item = await cp.claimOne(); order.length < 4; item = (await cp.claim({ limit: 1 }))[0]!) {
        order.push(...names([item]));
        await cp.make(item);
      }
      expect(order).toEqual(['clean@a', 'count@a', 'clean@b', 'count@b']);
    });

    test('is by priority before anything else', async () => {
      await cp.register(
        'w',
        playbook({ low: step('a/{x}', 'l/{x}'), high: step('b/{x}', 'h/{x}', { priority: 5 }) }),
      );
      await cp.see({ 'a/1': '1' });
      await cp.see({ 'b/2': '2' });
      expect(names(await cp.claim())).toEqual(['high@2', 'low@1']);
    });

    test('gives workflows their turn, however much one of them has to do', async () => {
      await cp.register('big', CHAIN, { root: '/big' });
      await cp.register('small', CHAIN, { root: '/small' });
      await cp.see(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`/big/raw/${i}.txt`, `${i}`])));
      await cp.see({ '/small/raw/1.txt': '1', '/small/raw/2.txt': '2' });
      const items = await cp.claim({ limit: 4 });
      expect(items.map(({ workflow }) => workflow)).toEqual(['big', 'small', 'big', 'small']);
    });
  });

  describe('a claim', () => {
    test('tells all that a runner needs, with a lease and a token', async () => {
      const { definition } = await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const answer = await cp.post<{ lease_seconds: number; items: object[] }>('/api/work/claim', {
        ...{ runner: 'r1', targets: ['local'], lease_seconds: 30 },
      });
      expect(answer.lease_seconds).toBe(30);
      expect(answer.items).toEqual([
        {
          ...{ kind: 'make', workflow: 'w', definition, root: '/p', stage: 'clean', entity: 'a' },
          ...{ target: 'local', failures: 0, failed_key: null, reasons: [], records: [], made_here: false },
          token: expect.any(Number),
        },
      ]);
      expect(await cp.status()).toMatchObject({ processing: 1 });
      expect((await cp.states())[0]).toMatchObject({ status: 'running', runner: 'r1' });
    });

    test('that names a definition as away is given nothing of it, and the machine is listed with why', async () => {
      const { definition } = await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const why = { workflow: 'w', root: '/p', problem: 'it is away' };
      const claim = (away: object[]) =>
        cp.post<{ items: object[] }>('/api/work/claim', { runner: 'r1', targets: ['local'], away });
      expect((await claim([{ definition, ...why }])).items).toEqual([]);
      const facts = async () => {
        const machines = await cp.get<{ name: string; facts: object }[]>('/api/machines');
        return machines.find(({ name }) => name === 'r1')!.facts;
      };
      expect(await facts()).toMatchObject({ roots: [{ ...why, state: 'troubled' }] });
      expect((await claim([])).items).toHaveLength(1);
      expect(await facts()).not.toHaveProperty('roots');
    });

    test('of one state is given that and what it needs, and what comes after it only if it is forced', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const only = { workflow: 'w', stage: 'count', entity: 'b' };
      expect(await cp.settle({ only })).toEqual(['clean@b', 'count@b']);
      await cp.settle();
      const run = { stage: 'clean', entity: 'a', force: true, cause: 'test' };
      await cp.post('/api/workflows/w/runs', run);
      expect(await cp.words()).toMatchObject({ 'clean@a': 'stale', 'clean@b': 'fresh' });
      const forced = { workflow: 'w', stage: 'clean', entity: 'a', force: true };
      expect((await cp.settle({ only: forced })).slice(0, 2)).toEqual(['clean@a', 'count@a']);
      const listed = (scope: string) =>
        cp.get<{ stage: string; entity: string }[]>(
          `/api/workflows/w/states?stage=count&entity=b&scope=${scope}`,
        );
      expect(names(await listed('run')).toSorted()).toEqual(['clean@b', 'count@b']);
    });

    test('tells why, and what was made before under which key', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.make(await cp.claimOne(), { text: 'made', key: 'k1' });
      await cp.see({ 'raw/a.txt': 'A' });
      const item = await cp.claimOne({ stages: ['clean'] });
      expect(item).toMatchObject({
        made_here: true,
        reasons: [{ reason: 'dep-changed', path: '/p/raw/a.txt' }],
      });
      expect(item.records).toMatchObject([{ outs: [{ path: '/p/clean/a.txt' }], skipped: false }]);
    });

    test('has a token greater than any before it', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b', 'raw/c.txt': 'c' });
      const tokens: number[] = [];
      for (let i = 0; i < 5; i++) {
        const items = await cp.claim({ limit: 2 });
        tokens.push(...items.map(({ token }) => token));
        for (const item of items) await cp.release(item);
      }
      expect(tokens).toHaveLength(10);
      expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
      expect(new Set(tokens).size).toBe(10);
    });

    test('never hands out what is handed out', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, i) => cp.claim({ runner: `r${i}`, limit: 1 })),
      );
      expect(names(all.flat()).toSorted()).toEqual(['clean@a', 'clean@b']);
    });

    test('is limited to a workflow or stages if it says so', async () => {
      await cp.register('w', playbook({ a: step('in/{x}', 'a/{x}'), b: step('in/{x}', 'b/{x}') }));
      await cp.see({ 'in/1': '1' });
      expect(await cp.claim({ workflow: 'other' })).toEqual([]);
      expect(names(await cp.claim({ workflow: 'w', stages: ['b'] }))).toEqual(['b@1']);
    });
  });

  describe('nothing is handed out', () => {
    test('whose inputs are stale, also two levels up', async () => {
      await cp.register(
        'w',
        playbook({
          a: step('raw/{x}', 'a/{x}'),
          b: step('a/{x}', 'b/{x}'),
          c: step(['b/{x}', 'side/{x}'], 'c/{x}'),
        }),
      );
      await cp.see({ 'raw/1': '1', 'side/1': 's' });
      await cp.settle();
      await cp.see({ 'raw/1': '2', 'side/1': 't' });
      expect(await cp.words()).toEqual({ 'a@1': 'stale', 'b@1': 'fresh', 'c@1': 'stale' });
      expect(names(await cp.claim())).toEqual(['a@1']);
    });

    test('that reads a file inside a directory whose maker is stale; and a new file there is no edit', async () => {
      await cp.register('w', playbook({ a: step('raw/{x}', 'a/{x}/'), in: step(['a/1/part', 'cfg'], 'in') }));
      await cp.see({ 'raw/1': 'x', cfg: 'c' });
      await cp.settle();
      await cp.see({ 'a/1/part': 'p' });
      expect(await cp.settle()).toEqual(['in']);
      await cp.see({ 'raw/1': 'y', cfg: 'd' });
      const items = await cp.claim();
      expect(names(items)).toEqual(['a@1']);
      await cp.make(items[0]!);
      await cp.see({ 'a/1/part': 'q' });
      expect(await cp.words()).toEqual({ 'a@1': 'fresh', in: 'stale' });
    });

    test('of a fan-out over a directory whose maker is stale', async () => {
      const fan = { parallel: { strategy: 'per_file' } };
      await cp.register(
        'w',
        playbook({ split: step('raw', 'chunks/'), each: step(['chunks/', 'cfg'], 'out/', fan) }),
      );
      await cp.see({ raw: 'x', cfg: 'c' });
      await cp.settle();
      await cp.see({ 'chunks/1': '1', 'chunks/2': '2' });
      expect(await cp.settle()).toEqual(['each@1', 'each@2']);
      await cp.see({ raw: 'y', cfg: 'd' });
      expect(names(await cp.claim())).toEqual(['split']);
    });

    test('later than it could be: one fan-out behind another goes on file by file', async () => {
      const fan = { parallel: { strategy: 'per_file' } };
      await cp.register('w', playbook({ one: step('in/', 'mid/', fan), two: step('mid/', 'out/', fan) }));
      await cp.see({ 'in/1': '1', 'in/2': '2' });
      await cp.make(await cp.claimOne());
      expect(names(await cp.claim())).toEqual(['two@1', 'one@2']);
    });

    test('that waits for its retry time', async () => {
      await cp.register(
        'w',
        playbook({ a: step('in/{x}', 'out/{x}', { retry: { limit: 1, backoff: { initial: '60s' } } }) }),
      );
      await cp.see({ 'in/1': '1' });
      await cp.fail(await cp.claimOne());
      expect(await cp.claim()).toEqual([]);
      await cp.passTime(59_000);
      expect(await cp.claim()).toEqual([]);
      await cp.passTime(2_000);
      expect(names(await cp.claim())).toEqual(['a@1']);
    });

    test.each([
      ['cores', { resources: { cores: 4 } }, { cores: 3 }, { cores: 4 }],
      ['memory', { resources: { memory_gb: 2 } }, { memory_bytes: 1_000_000 }, { memory_bytes: 4 * 2 ** 30 }],
      ['a gpu', { resources: { gpu: 1 } }, {}, { gpu: 1 }],
      ['slots of a pool', { resources: { slots: { db: 2 } } }, { pools: { db: 1 } }, { pools: { db: 2 } }],
    ])('that needs more %s than the runner has free', async (_what, needs, little, enough) => {
      await cp.register('w', playbook({ a: step('in/{x}', 'out/{x}', needs) }));
      await cp.see({ 'in/1': '1' });
      expect(await cp.claim({ free: { cores: 1, ...little } })).toEqual([]);
      expect(names(await cp.claim({ free: { cores: 1, ...enough } }))).toEqual(['a@1']);
    });

    test('for another target, or for a machine without the labels of the target', async () => {
      const far = { host: 'far.example', root: '/far', labels: { arch: 'arm' } };
      await cp.register(
        'w',
        playbook({ a: step('in/{x}', 'out/{x}', { target: 'far' }) }, { targets: { far } }),
      );
      await cp.see({ '/far/in/1': '1' }, 'far');
      expect(await cp.claim({ targets: ['local'] })).toEqual([]);
      expect(await cp.claim({ targets: ['far'] })).toEqual([]);
      expect(await cp.claim({ targets: ['far'], labels: { arch: 'x86' } })).toEqual([]);
      expect(names(await cp.claim({ targets: ['local', 'far'], labels: { arch: 'arm', os: 'l' } }))).toEqual([
        'a@1',
      ]);
    });

    test('beyond maxConcurrentEntities, counted over all runners; a live entity goes on', async () => {
      const node = { typeId: 'command', data: { cmd: 'make' } };
      const stages = [
        { id: 'in', type: 'source', pattern: 'in/{x}' },
        { id: 'a', type: 'transform', input: 'in', pattern: 'a/{x}', node },
        { id: 'b', type: 'transform', input: 'in', pattern: 'b/{x}', node },
      ];
      await cp.register(
        'w',
        JSON.stringify({ mode: 'pipeline', stateRoot: '.', maxConcurrentEntities: 2, stages }),
      );
      await cp.see({ 'in/1': '1', 'in/2': '2', 'in/3': '3' });
      const first = await cp.claim({ runner: 'r1', limit: 1 });
      const rest = await cp.claim({ runner: 'r2' });
      expect(names([...first, ...rest]).toSorted()).toEqual(['a@1', 'a@2', 'b@1', 'b@2']);
      expect(await cp.claim({ runner: 'r3' })).toEqual([]);
      for (const item of rest) await cp.make(item, { runner: 'r2' });
      expect(names(await cp.claim({ runner: 'r3' })).toSorted()).toEqual(['a@3', 'b@3']);
    });

    test('beyond max_concurrency of a job, which counts its tasks', async () => {
      const tasks = { a: { program: 'a' }, b: { program: 'b' }, c: { program: 'c', depends_on: ['a', 'b'] } };
      await cp.register('w', JSON.stringify({ max_concurrency: 1, tasks }));
      const first = await cp.claim();
      expect(names(first)).toEqual(['a']);
      expect(await cp.claim({ runner: 'r2' })).toEqual([]);
      await cp.make(first[0]!);
      expect(await cp.settle()).toEqual(['b', 'c']);
    });

    test('of a stage before all of the stage it comes after is settled', async () => {
      await cp.register(
        'w',
        playbook({ a: step('in/{x}', 'a/{x}'), report: step('cfg', 'report', { after: ['a'] }) }),
      );
      await cp.see({ 'in/1': '1', 'in/2': '2', cfg: 'c' });
      const items = await cp.claim();
      expect(names(items)).toEqual(['a@1', 'a@2']);
      await cp.make(items[0]!);
      expect(await cp.claim()).toEqual([]);
      expect(await cp.why('report')).toMatchObject({
        word: 'waiting',
        cause: 'after',
        after: [{ unsettled: 1 }],
      });
      await cp.make(items[1]!);
      expect(names(await cp.claim())).toEqual(['report']);
    });
  });
}
