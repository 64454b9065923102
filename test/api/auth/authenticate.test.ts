import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeToken } from '../../../api/auth/token.ts';
import { TokenCache } from '../../../api/auth/token-cache.ts';
import { type Database, DatabaseError, sql } from '../../../api/store/database.ts';
import type { TokenRow } from '../../../schema/tables/tokens.ts';
import { problemOf } from '../http/small-app.ts';
import { startTokenRig, type TokenRig } from './token-rig.ts';

let rig: TokenRig;
beforeEach(async () => {
  rig = await startTokenRig();
});
afterEach(() => rig.stop());

/** Well-formed, and never made by anybody. */
function madeUp(number: number): string {
  return makeToken((count) => new Uint8Array(count).map((_, index) => (number >> (8 * (index % 4))) & 0xff));
}

async function batchesDuring(act: () => Promise<unknown>): Promise<number> {
  const before = rig.db.stats.batches;
  await act();
  return rig.db.stats.batches - before;
}

async function lastUsed(): Promise<unknown> {
  return (await rig.db.batch([sql('SELECT last_used_at FROM tokens')], 'read'))[0]!.rows[0]!.last_used_at;
}

describe('a token', () => {
  it('makes a caller of whoever holds it', async () => {
    const server = rig.start();
    const { token } = await server.make({ name: 'runner 1', scopes: ['work', 'read'] });
    expect(await (await server.read(token)).json()).toEqual({
      kind: 'token',
      name: 'runner 1',
      scopes: ['read', 'work'],
      workflow: null,
      target: null,
    });
  });

  it('is looked up once in 30 seconds', async () => {
    const server = rig.start();
    const { token } = await server.make({ name: 'a', scopes: ['read'] });
    await server.read(token);
    expect(await batchesDuring(() => server.read(token))).toBe(0);
    rig.clock.ms += 29_999;
    expect(await batchesDuring(() => server.read(token))).toBe(0);
    rig.clock.ms += 1;
    expect(await batchesDuring(() => server.read(token))).toBe(1);
  });

  it('is looked up again when the clock was set back', async () => {
    const server = rig.start();
    const { token } = await server.make({ name: 'a', scopes: ['read'] });
    await server.read(token);
    rig.clock.ms -= 1;
    expect(await batchesDuring(() => server.read(token))).toBe(1);
  });

  it('is refused from the moment it expires, though it was just looked up', async () => {
    const server = rig.start();
    const { token } = await server.make({ name: 'a', scopes: ['read'], expires_in_seconds: 10 });
    rig.clock.ms += 9_999;
    expect((await server.read(token)).status).toBe(200);
    rig.clock.ms += 1;
    expect(await problemOf(server.read(token))).toMatchObject({ status: 401, code: 'expired-token' });
  });

  it('is refused at once where it was revoked, and within 30 seconds elsewhere', async () => {
    const [here, elsewhere] = [rig.start(), rig.start()];
    const { id, token } = await here.make({ name: 'a', scopes: ['read'] });
    for (const server of [here, elsewhere]) expect((await server.read(token)).status).toBe(200);
    await here.asRoot('DELETE', `/api/tokens/${id}`);
    expect(await problemOf(here.read(token))).toMatchObject({ status: 401, code: 'revoked-token' });
    expect((await elsewhere.read(token)).status).toBe(200);
    rig.clock.ms += 30_000;
    expect((await elsewhere.read(token)).status).toBe(401);
  });

  it('stays refused when a look that began before the revocation ends after it', async () => {
    const { id, token } = await rig.start().make({ name: 'a', scopes: ['read'] });
    let release = () => {};
    const slow = holdingFirst(rig.db, 'SELECT', (go) => {
      release = go;
    });
    const server = rig.start({ db: slow });
    const early = server.read(token);
    await server.asRoot('DELETE', `/api/tokens/${id}`);
    release();
    await early;
    expect((await server.read(token)).status).toBe(401);
  });

  it('works as soon as it is made, though it was tried before', async () => {
    const server = rig.start({ randomBytes: (count) => new Uint8Array(count) });
    const token = makeToken((count) => new Uint8Array(count));
    expect((await server.read(token)).status).toBe(401);
    await server.make({ name: 'a', scopes: ['read'] });
    expect((await server.read(token)).status).toBe(200);
  });

  it('notes its last use at most once a minute, whoever serves it', async () => {
    const [one, two] = [rig.start(), rig.start()];
    const { token } = await one.make({ name: 'a', scopes: ['read'] });
    const start = rig.clock.ms;
    await one.read(token);
    expect(await lastUsed()).toBe(start);
    for (const server of [one, two, one]) {
      rig.clock.ms += 19_000;
      await server.read(token);
      expect(await lastUsed()).toBe(start);
    }
    // Now the second has looked lately, and does not see what the first writes.
    rig.clock.ms = start + 59_000;
    await two.read(token);
    for (const [server, atMs] of [
      [one, 60_000],
      [two, 61_000],
    ] as const) {
      rig.clock.ms = start + atMs;
      await server.read(token);
      expect(await lastUsed()).toBe(start + 60_000);
    }
  });

  it('still opens the door when its use cannot be noted', async () => {
    const { token } = await rig.start().make({ name: 'a', scopes: ['read'] });
    const full = new DatabaseError({ code: 'database-full', message: 'the disk is full', hint: 'free some' });
    const server = rig.start({ db: failing(rig.db, 'UPDATE', full) });
    expect((await server.read(token)).status).toBe(200);
    expect(server.reported).toEqual([]);
  });

  it('opens nothing when it cannot be looked up', async () => {
    const { token } = await rig.start().make({ name: 'a', scopes: ['read'] });
    const busy = new DatabaseError({ code: 'database-busy', message: '/srv/db is locked', hint: 'wait' });
    const server = rig.start({ db: failing(rig.db, 'SELECT', busy) });
    const response = await server.read(token);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('/srv/db');
  });
});

describe('a credential that proves nothing', () => {
  it.each([
    ['nothing', {}, 'no-credential'],
    ['a password', { Authorization: 'Basic cm9vdDpyb290' }, 'not-bearer'],
    ['an empty bearer', { Authorization: 'Bearer ' }, 'not-bearer'],
    ['two tokens', { Authorization: `Bearer ${madeUp(1)} ${madeUp(2)}` }, 'not-bearer'],
    ['another service’s token', { Authorization: 'Bearer ghp_0123456789' }, 'unknown-token'],
    ['a token nobody made', { Authorization: `Bearer ${madeUp(1)}` }, 'unknown-token'],
    [
      'an Access assertion where Access is not set up',
      { 'Cf-Access-Jwt-Assertion': 'a.b.c' },
      'no-credential',
    ],
    ['an Access cookie', { Cookie: 'CF_Authorization=a.b.c' }, 'no-credential'],
  ])('gets 401 that says so: %s', async (_what, headers, code) => {
    const response = await rig.start().app.request('/read', { headers: headers as Record<string, string> });
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toMatch(/^Bearer realm="sluice"/);
    expect(await problemOf(response)).toMatchObject({ code });
  });

  it('costs no question to the database unless it could be a token, and then one', async () => {
    const server = rig.start();
    expect(await batchesDuring(() => server.read('nonsense'))).toBe(0);
    expect(await batchesDuring(() => server.read(madeUp(1)))).toBe(1);
    expect(await batchesDuring(() => server.read(madeUp(1)))).toBe(0);
  });

  it('is accepted with any spelling of the scheme', async () => {
    const server = rig.start();
    const { token } = await server.make({ name: 'a', scopes: ['read'] });
    const headers = { Authorization: `bearer  ${token}` };
    expect((await server.app.request('/read', { headers })).status).toBe(200);
  });

  it('gets 429 when there are too many of it, while tokens seen before still work', async () => {
    const server = rig.start({ rate: { perSecond: 0.01, burst: 5 } });
    const { token } = await server.make({ name: 'a', scopes: ['read'] });
    expect((await server.read(token)).status).toBe(200);
    const statuses: number[] = [];
    for (let number = 0; number < 7; number += 1) statuses.push((await server.read(madeUp(number))).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect(await batchesDuring(() => server.read(madeUp(99)))).toBe(0);
    rig.clock.ms += 30_000;
    expect(await batchesDuring(() => server.read(token))).toBe(1);
    expect((await server.read(token)).status).toBe(200);
    expect((await server.read(madeUp(99))).status).toBe(429);
    rig.clock.ms += 70_000;
    expect((await server.read(madeUp(99))).status).toBe(401);
  });
});

describe('what is remembered of tokens', () => {
  const row = (id: number): TokenRow => ({ id }) as TokenRow;

  it('is bounded, and made-up tokens push out only each other', () => {
    const cache = new TokenCache(() => 0);
    cache.put('real', row(1), cache.generation);
    for (let number = 0; number < 5_000; number += 1)
      cache.put(`fake ${number}`, undefined, cache.generation);
    expect(cache.size).toBe(1_001);
    expect(cache.get('real')).toEqual({ kind: 'found', row: row(1) });
    expect(cache.get('fake 4999')).toEqual({ kind: 'unknown' });
    expect(cache.get('fake 0')).toBeUndefined();
  });

  it('is bounded for real ones too', () => {
    const cache = new TokenCache(() => 0);
    for (let number = 0; number < 10_001; number += 1) cache.put(`${number}`, row(number), cache.generation);
    expect(cache.size).toBe(10_000);
    expect(cache.hasSeen('0')).toBe(false);
  });
});

function failing(db: Database, word: string, error: Error): Database {
  return {
    stats: db.stats,
    close: () => db.close(),
    batch: async (statements, mode) => {
      if (statements.some((statement) => statement.sql.trimStart().startsWith(word))) throw error;
      return db.batch(statements, mode);
    },
  };
}

/** Reads at once and gives the first answer to such a statement only when told to. */
function holdingFirst(db: Database, word: string, onHeld: (release: () => void) => void): Database {
  let isFirst = true;
  return {
    stats: db.stats,
    close: () => db.close(),
    batch: async (statements, mode) => {
      const results = await db.batch(statements, mode);
      if (isFirst && statements[0]!.sql.trimStart().startsWith(word)) {
        isFirst = false;
        await new Promise<void>((resolve) => onHeld(resolve));
      }
      return results;
    },
  };
}
