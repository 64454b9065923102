// What is refused: how it is told, and that nothing whatever was changed by it.

import { describe, expect, test } from 'vitest';
import { type Database, sql } from '../../../api/store/database.ts';
import type { Claimed } from '../../../schema/wire.ts';
import { CHAIN, type ControlPlane, h } from '../../rig/control-plane.ts';

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export function badInputBehaviours(cp: ControlPlane): void {
  /** One state that is running, with its token, so that what is refused would otherwise have counted. */
  const running = async (): Promise<Claimed> => {
    await cp.register('w', CHAIN);
    await cp.see({ 'raw/a.txt': 'a', 'raw/b.txt': 'b' });
    return cp.claimOne();
  };
  const expectRefused = async ({ status, code, method = 'POST', path, body, headers }: Refused) => {
    const before = await dump(cp.shape.db);
    const response = await cp.request(method, path, body, headers);
    const problem = (await response.json()) as Record<string, unknown>;
    expect({ status: response.status, code: problem.code }).toEqual({ status, code });
    expect(response.headers.get('Content-Type')).toBe('application/problem+json');
    expect(problem).toMatchObject({ detail: expect.stringMatching(/./), hint: expect.stringMatching(/./) });
    expect(await dump(cp.shape.db)).toEqual(before);
    return problem;
  };
  const JSON_TYPE = { 'Content-Type': 'application/json' };
  const SEEN = { path: '/p/raw/a.txt', hash: h('A'), size: 1 };
  const observe = (observations: unknown, more: object = {}) => ({
    ...{ path: '/api/observations', body: { target: 'local', watcher: 'x', observations, ...more } },
  });

  describe('a body', () => {
    test.each([
      ['that is not JSON', '{"target": "local",\n "watcher": x}', 400, 'not-json'],
      ['that is empty', '', 400, 'not-json'],
      ['that is not an object', '[]', 400, 'invalid-body'],
      ['that is null', 'null', 400, 'invalid-body'],
      ['that is nested too deep', '['.repeat(1_000) + ']'.repeat(1_000), 400, 'body-too-deep'],
      ['with NUL in a string', '{"target":"a\\u0000","watcher":"x","observations":[]}', 400, 'unusable-text'],
      ['with half a character', '{"target":"\\ud800","watcher":"x","observations":[]}', 400, 'unusable-text'],
    ])('%s is refused', async (_title, body, status, code) => {
      await running();
      await expectRefused({ status, code, path: '/api/observations', body, headers: JSON_TYPE });
    });

    test('that is not JSON is told at its line and column', async () => {
      const body = '{"target": "local",\n "watcher": x}';
      const problem = await expectRefused({
        ...{ status: 400, code: 'not-json', path: '/api/observations', body, headers: JSON_TYPE },
      });
      expect(problem).toMatchObject({ line: 2, column: 13 });
    });

    test('of another type is refused', async () => {
      await expectRefused({ status: 415, code: 'not-json-type', path: '/api/observations', body: '{}' });
    });

    test('of 10 MB is refused, whatever is in it', async () => {
      await running();
      const before = await dump(cp.shape.db);
      const body = `{"target":"${'x'.repeat(10_000_000)}"}`;
      for (const [method, path, headers] of [
        ['POST', '/api/observations', JSON_TYPE],
        ['PUT', '/api/workflows/w?root=/p', {}],
      ] as const)
        expect(await statusOr413(cp.request(method, path, body, headers))).toBe(413);
      expect(await dump(cp.shape.db)).toEqual(before);
    });

    test('of 10 MB in chunks of unknown number is refused', async () => {
      await running();
      const before = await dump(cp.shape.db);
      const chunk = new TextEncoder().encode('x'.repeat(100_000));
      let left = 100;
      const body = new ReadableStream({
        pull: (controller) => {
          if (left-- > 0) controller.enqueue(chunk);
          else controller.close();
        },
      });
      const init = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' } as RequestInit;
      expect(await statusOr413(cp.shape.fetch('/api/observations', init))).toBe(413);
      expect(await dump(cp.shape.db)).toEqual(before);
    });
  });

  describe('an observation', () => {
    test.each<[string, unknown]>([
      ["a path with '..'", [{ ...SEEN, path: '/p/../etc/passwd' }]],
      ["a path with '.'", [{ ...SEEN, path: '/p/./raw/a.txt' }]],
      ['a path with a doubled slash', [{ ...SEEN, path: '/p//raw/a.txt' }]],
      ['a relative path', [{ ...SEEN, path: 'raw/a.txt' }]],
      ['a path of 5,000 characters', [{ ...SEEN, path: `/p/${'x'.repeat(5_000)}` }]],
      ['a hash that is too short', [{ ...SEEN, hash: 'blake3:abc' }]],
      ['a hash in capitals', [{ ...SEEN, hash: h('A').toUpperCase() }]],
      ['a hash of another kind', [{ ...SEEN, hash: h('A').replace('blake3', 'sha256') }]],
      ['no hash', [{ path: SEEN.path, size: 1 }]],
      ['a negative size', [{ ...SEEN, size: -1 }]],
      ['a size that is not whole', [{ ...SEEN, size: 1.5 }]],
      ['gone and there at once', [{ ...SEEN, gone: true }]],
      ['gone: false', [{ path: SEEN.path, gone: false }]],
      ['a clock', [{ ...SEEN, seen_at: '2026-01-01T00:00:00Z' }]],
      ['one good and one bad', [SEEN, { ...SEEN, hash: 'x' }]],
      ['something that is not a list', { path: SEEN.path }],
      ['5,001 of them', Array.from({ length: 5_001 }, (_, i) => ({ path: `/${i}`, gone: true }))],
    ])('with %s is refused', async (_title, observations) => {
      await running();
      await expectRefused({ status: 400, code: 'invalid-body', ...observe(observations) });
    });

    test('with a clock or any other unknown field beside it is refused by the name of the field', async () => {
      await running();
      for (const field of ['now', 'timestamp', 'nowMs', 'watchers']) {
        const refused = { status: 400, code: 'invalid-body', ...observe([SEEN], { [field]: 1 }) };
        expect(JSON.stringify(await expectRefused(refused))).toContain(field);
      }
    });

    test('with NUL in its path is refused', async () => {
      await running();
      const bad = observe([{ ...SEEN, path: '/p/raw/a\0.txt' }]);
      await expectRefused({ status: 400, code: 'unusable-text', ...bad });
    });
  });

  describe('a claim', () => {
    const CLAIM = { runner: 'r1', targets: ['local'] };
    test.each<[string, object]>([
      ['no runner', { targets: ['local'] }],
      ['no targets', { ...CLAIM, targets: [] }],
      ['a limit of 0', { ...CLAIM, limit: 0 }],
      ['a limit of 501', { ...CLAIM, limit: 501 }],
      ['a lease of a day', { ...CLAIM, lease_seconds: 86_400 }],
      ['a lease until a time', { ...CLAIM, lease_until: 1 }],
      ['a clock', { ...CLAIM, now: 1 }],
      ['negative cores', { ...CLAIM, free: { cores: -1 } }],
      ['an unknown resource', { ...CLAIM, free: { cpus: 1 } }],
      ['a wait of an hour', { ...CLAIM, wait_seconds: 3_600 }],
      ['a limit in words', { ...CLAIM, limit: '5' }],
    ])('with %s is refused', async (_title, body) => {
      await running();
      await expectRefused({ status: 400, code: 'invalid-body', path: '/api/work/claim', body });
    });
  });

  describe('a result', () => {
    test.each<[string, object]>([
      ['a token in words', { token: 'seven' }],
      ['a token of 0', { token: 0 }],
      ['a key that is not a hash', { cache_key: 'abc' }],
      ['an out above the root', { outs: [{ path: '/p/../x', hash: h('x'), size: 1 }] }],
      ['an out that is not absolute', { outs: [{ path: 'x', hash: h('x'), size: 1 }] }],
      ['an outcome nobody knows', { outcome: 'great' }],
      ['a clock', { produced_at: '2026-01-01T00:00:00Z' }],
      ['seconds below zero', { seconds: -1 }],
      ['something consumed without a hash', { consumed: [{ path: '/p/x' }] }],
    ])('with %s is refused', async (_title, more) => {
      const item = await running();
      const items = [{ ...(await cp.result(item)), ...more }];
      const body = { runner: 'r1', items };
      await expectRefused({ status: 400, code: 'invalid-body', path: '/api/work/complete', body });
    });

    test('of no lease that is held changes nothing', async () => {
      const item = await running();
      const result = await cp.result(item);
      for (const [runner, token] of [
        ['r2', item.token],
        ['r1', item.token + 1],
      ] as const) {
        const items = [{ ...result, token }];
        const failed = [{ token, outcome: { kind: 'error' }, error: 'x' }];
        const lost = { status: 409, code: 'lease-lost' };
        await expectRefused({ ...lost, path: '/api/work/complete', body: { runner, items } });
        await expectRefused({ ...lost, path: '/api/work/fail', body: { runner, items: failed } });
        await expectRefused({ ...lost, path: '/api/work/release', body: { runner, tokens: [token] } });
      }
    });
  });

  describe('whatever else is refused changes nothing:', () => {
    test.each<[string, Refused]>([
      [
        'a workflow with mistakes',
        {
          status: 422,
          code: 'invalid-workflow',
          method: 'PUT',
          path: '/api/workflows/w?root=/p',
          body: 'stages: 3',
        },
      ],
      [
        'a workflow in a circle',
        {
          status: 409,
          code: 'cycle',
          method: 'PUT',
          path: '/api/workflows/v?root=/p',
          body: '{"stages":{"x":{"cmd":"x","deps":["counts/{x}.txt"],"outs":["raw/{x}.txt"]}}}',
        },
      ],
      [
        'a workflow with NUL in it',
        {
          status: 400,
          code: 'unusable-text',
          method: 'PUT',
          path: '/api/workflows/w?root=/p',
          body: 'stages:\0',
        },
      ],
      [
        'removing what is not there',
        { status: 404, code: 'unknown-workflow', method: 'DELETE', path: '/api/workflows/v' },
      ],
      [
        'pausing what is not there',
        { status: 404, code: 'unknown-workflow', path: '/api/workflows/v/pause', body: {} },
      ],
      [
        'invalidating what is not there',
        { status: 404, code: 'unknown-workflow', path: '/api/pipeline/v/invalidate', body: {} },
      ],
      [
        'invalidating with an unknown field',
        { status: 400, code: 'invalid-body', path: '/api/pipeline/w/invalidate', body: { stage: 'clean' } },
      ],
      [
        'retrying an entity that is not there',
        { status: 404, code: 'unknown-entity', path: '/api/pipeline/w/entity/c/retry', body: {} },
      ],
      [
        'a run of a stage that is not there',
        {
          status: 404,
          code: 'unknown-stage',
          path: '/api/workflows/w/runs',
          body: { cause: 'x', stage: 'y' },
        },
      ],
      [
        'a run without a cause',
        { status: 400, code: 'invalid-body', path: '/api/workflows/w/runs', body: {} },
      ],
      [
        'a token with a scope nobody knows',
        { status: 400, code: 'invalid-body', path: '/api/tokens', body: { name: 'x', scopes: ['root'] } },
      ],
      ['NUL in a URL', { status: 400, code: 'unusable-text', method: 'GET', path: '/api/workflows/a%00b' }],
      [
        'a query that nobody knows',
        { status: 400, code: 'invalid-query', method: 'GET', path: '/api/events?since=1' },
      ],
    ])('%s', async (_title, refused) => {
      await running();
      await expectRefused(refused);
    });

    test('removing a workflow for the second time', async () => {
      await running();
      await cp.ask('DELETE', '/api/workflows/w');
      await expectRefused({
        status: 404,
        code: 'unknown-workflow',
        method: 'DELETE',
        path: '/api/workflows/w',
      });
    });
  });
}

/** Whoever keeps sending to somebody who has answered may have the connection closed on him instead. */
async function statusOr413(asking: Promise<Response>): Promise<number> {
  return (await asking.catch(() => null))?.status ?? 413;
}

/** Everything but when tokens were last used. */
async function dump(db: Database): Promise<string> {
  const listed =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'tokens'";
  const [tables] = await db.batch([sql(listed)], 'read');
  const names = tables!.rows.map(({ name }) => name as string).filter((name) => !name.startsWith('_'));
  const all = [...names.map((name) => `SELECT * FROM ${name}`), 'SELECT id, hash FROM tokens'];
  const found = await db.batch(
    all.map((text) => sql(text)),
    'read',
  );
  return h(JSON.stringify(found.map(({ rows }) => rows)));
}
