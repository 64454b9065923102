// The surface of HTTP: shapes, paging, tags, names in URLs, streams, long polls, and what the app says about itself.

import { describe, expect, test } from 'vitest';
import { entityAnswer, entitySummary, statusAnswer, whyAnswer } from '../../../schema/read-answers.ts';
import { CHAIN, type ControlPlane, names } from '../../rig/control-plane.ts';

const BLOG = JSON.stringify({
  mode: 'pipeline',
  stateRoot: '.',
  stages: [
    { id: 'logs', type: 'source', pattern: 'logs/{date}.txt' },
    {
      ...{ id: 'blog', type: 'transform', input: 'logs', pattern: 'blogs/{date}.md' },
      node: { typeId: 'command', data: { cmd: 'make' } },
    },
  ],
});

export function httpBehaviours(cp: ControlPlane): void {
  describe('the endpoints of pipelines', () => {
    test('have their shapes', async () => {
      await cp.register('blog', BLOG);
      await cp.see({ 'logs/mon.txt': 'm', 'logs/tue.txt': 't' });
      const [first, second] = await cp.claim();
      await cp.make(first!);
      await cp.fail(second!);
      const status = await cp.get('/api/pipeline/blog/status');
      expect(statusAnswer.parse(status)).toEqual(status);
      expect(status).toMatchObject({ entities: 2, fresh: 3, failed: 1 });
      const list = await cp.get<unknown[]>('/api/pipeline/blog/entities');
      expect(list).toEqual(list.map((each) => entitySummary.parse(each)));
      expect(list).toMatchObject([
        { id: 'mon', stages: { logs: 'complete', blog: 'complete' } },
        { id: 'tue', stages: { logs: 'complete', blog: 'failed' } },
      ]);
      const entity = await cp.get('/api/pipeline/blog/entity/tue');
      expect(entityAnswer.parse(entity)).toEqual(entity);
      expect(entity).toMatchObject({
        manifest: { states: { logs: { is_source: true } } },
        failures: { blog: {} },
      });
      const why = await cp.why('blog', 'tue', 'blog');
      expect(whyAnswer.parse(why)).toEqual(why);
    });

    test('of status answer 304 until something changes', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      const first = await cp.request('GET', '/api/pipeline/w/status');
      const tag = first.headers.get('ETag')!;
      expect(tag).toMatch(/^"\w+"$/);
      const ask = () => cp.request('GET', '/api/pipeline/w/status', undefined, { 'If-None-Match': tag });
      expect((await ask()).status).toBe(304);
      await cp.see({ 'raw/a.txt': 'a' });
      expect((await ask()).status).toBe(304);
      await cp.claimOne();
      expect((await ask()).status).toBe(200);
    });
  });

  describe('a list', () => {
    test('is paged by the Link header, without gaps or repeats', async () => {
      await cp.register('w', CHAIN);
      await cp.see(Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`raw/${i}.txt`, `${i}`])));
      for (const [path, total] of [
        ['/api/pipeline/w/entities?limit=10', 25],
        ['/api/workflows/w/states?limit=20', 50],
      ] as const) {
        const seen: string[] = [];
        let pages = 0;
        for (let next: string | undefined = path; next !== undefined; pages++) {
          const response = await cp.request('GET', next);
          seen.push(...((await response.json()) as object[]).map((each) => JSON.stringify(each)));
          next = /^<(.*)>; rel="next"$/.exec(response.headers.get('Link') ?? '')?.[1];
        }
        expect(pages).toBe(3);
        expect(new Set(seen).size).toBe(total);
        expect(seen).toHaveLength(total);
      }
    });

    test.each([
      '/api/pipeline/w/entities',
      '/api/workflows/w/states',
      '/api/events',
      '/api/workflows/w/runs',
    ])('%s has a cap', async (path) => {
      await cp.register('w', CHAIN);
      for (const limit of [0, 1_001, 'many'])
        expect((await cp.request('GET', `${path}?limit=${limit}`)).status).toBe(400);
      expect((await cp.request('GET', `${path}?limit=1000`)).status).toBe(200);
    });
  });

  describe('a name', () => {
    test.each(['plain', 'with space', 'ö 日本 👩‍👩‍👧', 'a\nb', 'per%cent', 'que?ry#x', '-dash', '..x'])(
      'of an entity like %j survives the URL',
      async (entity) => {
        await cp.register('w', CHAIN);
        await cp.see({ [`raw/${entity}.txt`]: 'x' });
        const path = `/api/pipeline/w/entity/${encodeURIComponent(entity)}`;
        expect(await cp.get(path)).toMatchObject({ id: entity });
        await cp.fail(await cp.claimOne());
        expect(await cp.post(`${path}/retry`, {})).toEqual({ status: 'queued', retried: 1 });
        expect((await cp.why('clean', entity)).entity).toBe(entity);
        expect(await cp.claimOne()).toMatchObject({ entity });
      },
    );

    test('of several parts is one, encoded or not', async () => {
      const text = CHAIN.replaceAll('{x}', '{feed}/{guid}');
      await cp.register('team/news', text);
      await cp.see({ 'raw/a/1.txt': 'x' });
      for (const path of ['team/news/entity/a/1', 'team%2Fnews/entity/a%2F1'])
        expect(await cp.get(`/api/pipeline/${path}`)).toMatchObject({ id: 'a/1' });
      expect((await cp.request('GET', '/api/pipeline/team/news/status')).status).toBe(200);
    });

    test('that does not exist is answered with the nearest', async () => {
      await cp.register('blog', BLOG);
      await cp.see({ 'logs/monday.txt': 'm' });
      for (const [path, nearest] of [
        ['/api/pipeline/blgo/status', 'blog'],
        ['/api/workflows/blgo', 'blog'],
        ['/api/workflows/blgo/states', 'blog'],
        ['/api/pipeline/blog/entity/mondya', 'monday'],
        ['/api/workflows/blog/why?stage=blgo', 'blog'],
      ] as const) {
        const response = await cp.request('GET', path);
        expect([path, response.status]).toEqual([path, 404]);
        expect(response.headers.get('Content-Type')).toBe('application/problem+json');
        expect(await response.json()).toMatchObject({ nearest, hint: `did you mean '${nearest}'?` });
      }
    });
  });

  describe('events', () => {
    test('are listed oldest first, and a page goes on after a cursor', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.settle();
      const all = await cp.get<{ id: number; event: string }[]>('/api/events?workflow=w');
      expect(all.map(({ event }) => event)).toEqual([
        'workflow_registered',
        ...['stage_started', 'stage_completed', 'stage_started', 'stage_completed'],
      ]);
      expect(await cp.get(`/api/events?workflow=w&after=${all[1]!.id}`)).toEqual(all.slice(2));
    });

    test('are streamed live, and a stream resumes where another ended', async () => {
      await cp.register('w', CHAIN);
      const [registered] = await cp.get<{ id: number }[]>('/api/events?workflow=w');
      const stream = await open(cp, `/api/events/stream?workflow=w&after=${registered!.id}`);
      await cp.see({ 'raw/a.txt': 'a' });
      const item = await cp.claimOne();
      const started = await stream.next();
      expect(started).toMatchObject({ event: 'stage_started' });
      await stream.close();
      await cp.make(item);
      const resumed = await open(cp, '/api/events/stream?workflow=w', {
        'Last-Event-ID': String(started.id),
      });
      expect(await resumed.next()).toMatchObject({ event: 'stage_completed' });
      await resumed.close();
    });
  });

  test('a claim that waits is answered when work arrives', async () => {
    await cp.register('w', CHAIN);
    const began = performance.now();
    const waiting = cp.claim({ wait_seconds: 10 });
    await cp.see({ 'raw/a.txt': 'a' });
    expect(names(await waiting)).toEqual(['clean@a']);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('a claim that waits in vain comes back empty', async () => {
    await cp.register('w', CHAIN);
    expect(await cp.claim({ wait_seconds: 0.1 })).toEqual([]);
  });

  describe('about itself', () => {
    test('it says that it is alive, to anybody', async () => {
      const response = await cp.shape.fetch('/healthz', { headers: { Authorization: 'none' } });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ status: 'ok' });
    });

    test('it has numbers for Prometheus', async () => {
      await cp.register('w', CHAIN);
      await cp.see({ 'raw/a.txt': 'a' });
      await cp.claimOne();
      const response = await cp.request('GET', '/metrics');
      expect(response.headers.get('Content-Type')).toMatch(/^text\/plain; version=0.0.4/);
      const text = await response.text();
      expect(text).toContain('sluice_states{workflow="w",stage="clean",word="running"} 1');
      expect(text).toContain('sluice_entities{workflow="w"} 1');
      expect(text).toMatch(/sluice_attempts_total \d+/);
    });

    test('it knows its runners and watchers', async () => {
      await cp.register('w', CHAIN);
      await cp.post('/api/observations', { target: 'local', watcher: 'one that looks', observations: [] });
      await cp.claim({ runner: 'one that works' });
      expect(await cp.get('/api/machines')).toMatchObject([
        { role: 'runner', name: 'one that works' },
        { role: 'watcher', name: 'one that looks' },
      ]);
    });

    test('it tells a watcher what to look at on its target', async () => {
      await cp.register('w', CHAIN);
      const told = async (target: string) => JSON.stringify(await cp.get(`/api/watch?target=${target}`));
      expect(await told('local')).toContain('{"pattern":"/p/raw/{x}.txt","stage":"clean","role":"dep"');
      expect(await told('elsewhere')).not.toContain('pattern');
    });

    test('it refuses what it does not know as a problem, with the next step', async () => {
      for (const [method, path, status] of [
        ['GET', '/api/nothing', 404],
        ['PATCH', '/api/workflows', 405],
        ['POST', '/healthz', 405],
      ] as const) {
        const response = await cp.request(method, path);
        expect([path, response.status]).toEqual([path, status]);
        expect(response.headers.get('Content-Type')).toBe('application/problem+json');
        expect(await response.json()).toMatchObject({ status, hint: expect.stringMatching(/./) });
      }
    });
  });
}

/** A stream of events, read one by one. */
async function open(cp: ControlPlane, path: string, headers: Record<string, string> = {}) {
  const response = await cp.request('GET', path, undefined, headers);
  expect(response.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    async next(): Promise<{ id: number; event: string }> {
      for (;;) {
        const message = /^data: (.*)$/m.exec(text);
        if (message !== null) {
          text = text.slice(message.index + message[0].length);
          return JSON.parse(message[1]!) as { id: number; event: string };
        }
        const { done, value } = await reader.read();
        if (done) throw new Error('the stream ended');
        text += value;
      }
    },
    close: () => reader.cancel(),
  };
}
