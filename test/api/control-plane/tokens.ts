// Who may do what: scopes, limits to a workflow or target, expiry and revocation.

import { describe, expect, test } from 'vitest';
import { CHAIN, type ControlPlane, h } from '../../rig/control-plane.ts';

interface Made {
  readonly id: number;
  readonly token: string;
}

export function tokenBehaviours(cp: ControlPlane): void {
  const make = (body: object) => cp.post<Made>('/api/tokens', { name: 't', scopes: ['read'], ...body });
  const as = ({ token }: Made, method: string, path: string, body?: unknown) =>
    cp.request(method, path, body, { Authorization: `Bearer ${token}` });
  const CLAIM = { runner: 'r1', targets: ['local'] };
  const seen = (target: string) => ({ target, watcher: 'w', observations: [] });

  describe('without a right', () => {
    test.each(['', 'Bearer', 'Bearer sluice_wrong', `Bearer sluice_${'A'.repeat(43)}`, 'Basic YTpi', 'x'])(
      'a request with the authorization %j is refused with 401',
      async (Authorization) => {
        for (const path of ['/api/workflows', '/metrics', '/api/tokens']) {
          const response = await cp.shape.fetch(path, { headers: { Authorization } });
          expect(response.status).toBe(401);
          expect(response.headers.get('WWW-Authenticate')).toMatch(/^Bearer/);
          expect(await response.json()).toMatchObject({ status: 401, hint: expect.stringMatching(/./) });
        }
      },
    );

    test('a scope allows what it includes, and nothing else', async () => {
      await cp.register('w', CHAIN);
      const ask = {
        read: ['GET', '/api/workflows'],
        watch: ['POST', '/api/observations', seen('local')],
        work: ['POST', '/api/work/claim', CLAIM],
        admin: ['POST', '/api/workflows/w/pause', {}],
      } as const;
      const allowed = {
        read: ['read'],
        watch: ['read', 'watch'],
        work: ['read', 'watch', 'work'],
        admin: ['read', 'watch', 'work', 'admin'],
      } as const;
      for (const scope of ['read', 'watch', 'work', 'admin'] as const) {
        const token = await make({ scopes: [scope] });
        for (const needed of ['read', 'watch', 'work', 'admin'] as const) {
          const [method, path, body] = ask[needed];
          const response = await as(token, method, path, body);
          const mayDo = (allowed[scope] as readonly string[]).includes(needed);
          expect([scope, needed, response.status]).toEqual([scope, needed, mayDo ? 200 : 403]);
          if (!mayDo) expect(await response.json()).toMatchObject({ code: 'scope-missing', needed });
        }
      }
    });

    test('an expired token is refused with 401', async () => {
      const token = await make({ expires_in_seconds: 60 });
      await cp.passTime(61_000);
      const response = await as(token, 'GET', '/api/workflows');
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'expired-token' });
    });

    test('a revoked token is refused with 401, at once', async () => {
      const token = await make({});
      expect((await as(token, 'GET', '/api/workflows')).status).toBe(200);
      await cp.ask('DELETE', `/api/tokens/${token.id}`);
      const response = await as(token, 'GET', '/api/workflows');
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'revoked-token' });
    });

    test('a token is stored as a hash, and shown only once', async () => {
      const { id, token } = await make({ name: 'secret' });
      expect(token).toMatch(/^sluice_[\w-]{43}$/);
      expect(JSON.stringify(await cp.get('/api/tokens'))).not.toContain(token);
      const [row] = await cp.rows('SELECT lower(hex(hash)) AS hash FROM tokens WHERE id = ?', id);
      expect(`blake3:${row!.hash}`).toBe(h(token));
    });
  });

  describe('a token for one workflow', () => {
    const two = async () => {
      await cp.register('mine', CHAIN, { root: '/mine' });
      await cp.register('other', CHAIN, { root: '/other' });
      await cp.see({ '/mine/raw/a.txt': 'a', '/other/raw/a.txt': 'a' });
    };

    test('sees only that one', async () => {
      await two();
      const token = await make({ workflow: 'mine' });
      expect(await (await as(token, 'GET', '/api/workflows')).json()).toMatchObject([{ name: 'mine' }]);
      expect((await as(token, 'GET', '/api/pipeline/mine/status')).status).toBe(200);
      for (const path of [
        ...['/api/pipeline/other/status', '/api/pipeline/other/entities', '/api/pipeline/other/entity/a'],
        ...[
          '/api/workflows/other',
          '/api/workflows/other/states',
          '/api/workflows/other/why?stage=clean&entity=a',
        ],
        ...['/api/workflows/other/runs', '/api/workflows/other/definitions', '/api/events?workflow=other'],
        ...['/api/events/stream?workflow=other', '/metrics', '/api/machines'],
      ]) {
        const response = await as(token, 'GET', path);
        expect([path, response.status]).toEqual([path, 403]);
      }
      const events = (await (await as(token, 'GET', '/api/events')).json()) as { workflow: string }[];
      expect(new Set(events.map(({ workflow }) => workflow))).toEqual(new Set(['mine']));
    });

    test('cannot learn of another by the hash of its definition', async () => {
      await two();
      const { definition } = await cp.get<{ definition: string }>('/api/workflows/other');
      const token = await make({ workflow: 'mine' });
      expect((await as(token, 'GET', `/api/definitions/${definition}`)).status).toBe(403);
    });

    test('is given work only of that one, and may speak only of its leases', async () => {
      await two();
      const token = await make({ workflow: 'mine', scopes: ['work'] });
      const free = { ...CLAIM, limit: 10 };
      const answer = await (await as(token, 'POST', '/api/work/claim', free)).json();
      expect(answer).toMatchObject({ items: [{ workflow: 'mine' }] });
      expect((await as(token, 'POST', '/api/work/claim', { ...free, workflow: 'other' })).status).toBe(403);
      const foreign = await cp.claimOne({ workflow: 'other' });
      const before = await cp.states('other');
      const tokens = { runner: 'r1', tokens: [foreign.token] };
      const items = [await cp.result(foreign)];
      const failed = [{ token: foreign.token, outcome: { kind: 'error' }, error: 'x' }];
      for (const [act, body] of [
        ['heartbeat', tokens],
        ['release', tokens],
        ['complete', { runner: 'r1', items }],
        ['fail', { runner: 'r1', items: failed }],
      ] as const)
        expect([act, (await as(token, 'POST', `/api/work/${act}`, body)).status]).toEqual([act, 403]);
      expect(await cp.states('other')).toEqual(before);
    });

    test('changes only that one', async () => {
      await two();
      const token = await make({ workflow: 'mine', scopes: ['admin'] });
      expect((await as(token, 'POST', '/api/workflows/mine/pause', {})).status).toBe(200);
      for (const [method, path, body] of [
        ['POST', '/api/workflows/other/pause', {}],
        ['DELETE', '/api/workflows/other', undefined],
        ['PUT', '/api/workflows/other?root=/other', CHAIN],
        ['POST', '/api/pipeline/other/invalidate', {}],
        ['POST', '/api/pipeline/other/entity/a/retry', {}],
        ['POST', '/api/workflows/other/runs', { cause: 'x' }],
        ['POST', '/api/tokens', { name: 'mightier', scopes: ['admin'] }],
        ['GET', '/api/tokens', undefined],
      ] as const)
        expect([method, path, (await as(token, method, path, body)).status]).toEqual([method, path, 403]);
    });
  });

  test('a token for one target watches and works only there', async () => {
    await cp.register('w', CHAIN, { target: 'near' });
    await cp.see({ 'raw/a.txt': 'a' }, 'near');
    const token = await make({ target: 'far', scopes: ['watch', 'work'] });
    expect((await as(token, 'POST', '/api/observations', seen('far'))).status).toBe(200);
    expect((await as(token, 'POST', '/api/observations', seen('near'))).status).toBe(403);
    expect((await as(token, 'GET', '/api/watch?target=near')).status).toBe(403);
    expect((await as(token, 'POST', '/api/work/claim', { ...CLAIM, targets: ['near'] })).status).toBe(403);
    const both = await as(token, 'POST', '/api/work/claim', { ...CLAIM, targets: ['near', 'far'] });
    expect(await both.json()).toMatchObject({ items: [] });
    const item = await cp.claimOne({ targets: ['near'] });
    const body = { runner: 'r1', items: [await cp.result(item)] };
    expect((await as(token, 'POST', '/api/work/complete', body)).status).toBe(403);
  });
}
