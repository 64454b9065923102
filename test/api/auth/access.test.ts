import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccessSettings } from '../../../api/parts.ts';
import { problemOf } from '../http/small-app.ts';
import { startTokenRig, type TokenRig } from './token-rig.ts';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

const TEAM = 'acme.cloudflareaccess.com';
const AUDIENCE = 'a1b2c3';
let ours: Keys;
let theirs: Keys;
beforeAll(async () => {
  [ours, theirs] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
});

let rig: TokenRig;
beforeEach(async () => {
  rig = await startTokenRig();
});
afterEach(() => rig.stop());

interface Said {
  readonly email?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly expiresInS?: number | null;
  readonly notBeforeInS?: number;
  readonly key?: Keys;
  readonly kid?: string;
}

function assertion(said: Said = {}): Promise<string> {
  const nowS = Math.floor(rig.clock.ms / 1_000);
  const { email = 'ada@acme.example', expiresInS = 60 } = said;
  const jwt = new SignJWT(email === '' ? { common_name: 'service' } : { email })
    .setProtectedHeader({ alg: 'RS256', kid: said.kid ?? 'k1' })
    .setIssuer(said.issuer ?? `https://${TEAM}`)
    .setAudience(said.audience ?? AUDIENCE)
    .setIssuedAt(nowS);
  if (expiresInS !== null) jwt.setExpirationTime(nowS + expiresInS);
  if (said.notBeforeInS !== undefined) jwt.setNotBefore(nowS + said.notBeforeInS);
  return jwt.sign((said.key ?? ours).privateKey);
}

function startBehindAccess(over: Partial<AccessSettings> = {}) {
  const asked: string[] = [];
  const fetchKeys = async (input: unknown) => {
    asked.push(String(input));
    const jwk = { ...(await exportJWK(ours.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
    return Response.json({ keys: [jwk] });
  };
  const access: AccessSettings = {
    teamDomain: TEAM,
    audience: AUDIENCE,
    readers: 'any',
    admins: ['boss@acme.example'],
    fetch: fetchKeys as typeof fetch,
    ...over,
  };
  const server = rig.start({ access });
  const read = (jwt: string, more: Record<string, string> = {}) =>
    server.app.request('/read', { headers: { 'Cf-Access-Jwt-Assertion': jwt, ...more } });
  return { ...server, asked, read };
}

describe('a person behind Access', () => {
  it('may read, under their address', async () => {
    const { read, asked } = startBehindAccess();
    const jwt = await assertion();
    expect(await (await read(jwt)).json()).toEqual({
      kind: 'access',
      name: 'ada@acme.example',
      scopes: ['read'],
      workflow: null,
      target: null,
    });
    await read(jwt);
    expect(asked).toEqual([`https://${TEAM}/cdn-cgi/access/certs`]);
  });

  it('is an admin if listed, however the address is spelled', async () => {
    const { read } = startBehindAccess();
    const jwt = await assertion({ email: 'Boss@Acme.example' });
    expect(await (await read(jwt)).json()).toMatchObject({ scopes: ['admin'], name: 'boss@acme.example' });
  });

  it('is refused if readers are listed and they are not among them', async () => {
    const { read } = startBehindAccess({ readers: ['Eve@acme.example'] });
    expect((await read(await assertion({ email: 'eve@acme.example' }))).status).toBe(200);
    expect((await read(await assertion({ email: 'boss@acme.example' }))).status).toBe(200);
    expect(await problemOf(read(await assertion()))).toMatchObject({
      status: 403,
      code: 'access-not-listed',
    });
  });

  it('needs an address: a service passes Access and still needs a token', async () => {
    const { read, make } = startBehindAccess();
    const jwt = await assertion({ email: '' });
    expect((await read(jwt)).status).toBe(403);
    const { token } = await make({ name: 'runner', scopes: ['work'] });
    const both = await read(jwt, { Authorization: `Bearer ${token}` });
    expect(await both.json()).toMatchObject({ kind: 'token', name: 'runner' });
  });
});

describe('an assertion', () => {
  it.each<[string, () => Said, string]>([
    ['is for another application', () => ({ audience: 'other' }), 'bad-access-jwt'],
    ['is of another team', () => ({ issuer: 'https://evil.cloudflareaccess.com' }), 'bad-access-jwt'],
    ['was signed by somebody else', () => ({ key: theirs }), 'bad-access-jwt'],
    ['names a key nobody has', () => ({ kid: 'k9' }), 'bad-access-jwt'],
    ['has expired', () => ({ expiresInS: -1 }), 'expired-access-jwt'],
    ['never expires', () => ({ expiresInS: null }), 'bad-access-jwt'],
    ['is not valid yet', () => ({ notBeforeInS: 60 }), 'bad-access-jwt'],
  ])('is refused if it %s', async (_what, said, code) => {
    const { read } = startBehindAccess();
    expect(await problemOf(read(await assertion(said())))).toMatchObject({ status: 401, code });
  });

  it.each(['', 'x', 'a.b.c', '....', `${btoa('{"alg":"none"}')}.${btoa('{"email":"boss@acme.example"}')}.`])(
    'is refused if it is %j',
    async (text) => {
      const { read } = startBehindAccess();
      expect((await read(text)).status).toBe(401);
    },
  );

  it('is refused if it was signed with the public key as a password', async () => {
    const { read } = startBehindAccess();
    const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(ours.publicKey)));
    const forged = await new SignJWT({ email: 'boss@acme.example' })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .setIssuer(`https://${TEAM}`)
      .setAudience(AUDIENCE)
      .setExpirationTime('1h')
      .sign(secret);
    expect((await read(forged)).status).toBe(401);
  });

  it('expires by the clock of the server', async () => {
    const { read } = startBehindAccess();
    const jwt = await assertion({ expiresInS: 60 });
    expect((await read(jwt)).status).toBe(200);
    rig.clock.ms += 60_000;
    expect((await read(jwt)).status).toBe(401);
  });

  it('in a cookie counts for nothing', async () => {
    const { app } = startBehindAccess();
    const headers = { Cookie: `CF_Authorization=${await assertion()}` };
    expect((await app.request('/read', { headers })).status).toBe(401);
  });

  it('counts for nothing where Access is not set up', async () => {
    const { app } = rig.start();
    const headers = { 'Cf-Access-Jwt-Assertion': await assertion() };
    expect(await problemOf(app.request('/read', { headers }))).toMatchObject({ code: 'no-credential' });
  });
});

describe('keys that cannot be fetched', () => {
  it.each<[string, () => Promise<Response>]>([
    ['no answer', () => Promise.reject(new TypeError('fetch failed'))],
    ['an error', async () => new Response('no', { status: 500 })],
    ['something else than keys', async () => Response.json({ hello: 'world' })],
    ['no JSON', async () => new Response('<html>')],
  ])('are nobody’s fault who asks: %s', async (_what, answer) => {
    const { read } = startBehindAccess({ fetch: answer as typeof fetch });
    const response = await read(await assertion());
    expect(response.headers.get('Retry-After')).toBe('5');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'access-unreachable' });
  });

  it.each<[string, () => Promise<Response>]>([
    ['no answer', () => Promise.reject(new TypeError('fetch failed'))],
    ['an error', async () => new Response('no', { status: 500 })],
  ])('are not asked for again with every request: %s', async (_what, answer) => {
    let asked = 0;
    const fetchKeys = () => {
      asked += 1;
      return answer();
    };
    const { read } = startBehindAccess({ fetch: fetchKeys as typeof fetch });
    const jwt = await assertion();
    for (let number = 0; number < 5; number += 1) await read(jwt);
    expect(asked).toBe(1);
    rig.clock.ms += 5_000;
    await read(jwt);
    expect(asked).toBe(2);
  });
});
