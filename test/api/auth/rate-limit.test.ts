import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RateLimit } from '../../../api/auth/rate-limit.ts';
import { Problem } from '../../../api/http/problem.ts';
import { problemOf } from '../http/small-app.ts';
import { startTokenRig, type TokenRig } from './token-rig.ts';

function setUp(settings = { perSecond: 2, burst: 4 }) {
  const clock = { ms: 1_000_000 };
  const limit = new RateLimit(settings, () => clock.ms);
  const passes = (caller = 'a') => {
    try {
      limit.take(caller);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status === 429) return false;
      throw error;
    }
  };
  const count = (tries: number) => Array.from({ length: tries }, () => passes()).filter(Boolean).length;
  return { clock, limit, passes, count };
}

describe('a caller', () => {
  it('may burst, then go on at the steady rate', () => {
    const { clock, count } = setUp();
    expect(count(10)).toBe(4);
    clock.ms += 1_000;
    expect(count(10)).toBe(2);
    clock.ms += 60_000;
    expect(count(10)).toBe(4);
  });

  it('gains from parts of a second', () => {
    const { clock, count } = setUp();
    count(4);
    let passed = 0;
    for (let step = 0; step < 100; step += 1) {
      clock.ms += 10;
      passed += count(1);
    }
    expect(passed).toBe(2);
  });

  it('does not use up what others have', () => {
    const { passes, count } = setUp();
    count(10);
    expect(passes('a')).toBe(false);
    expect(passes('b')).toBe(true);
  });

  it('gains and loses nothing when the clock is set back', () => {
    const { clock, count } = setUp();
    count(4);
    clock.ms -= 100_000;
    expect(count(1)).toBe(0);
    clock.ms += 500;
    expect(count(2)).toBe(1);
  });

  it('is told how long to wait', () => {
    const { limit, count } = setUp({ perSecond: 0.1, burst: 1 });
    count(1);
    try {
      limit.take('a');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ status: 429, headers: { 'Retry-After': '10' } });
    }
  });
});

it('remembers a bounded number of callers', () => {
  const { limit, passes } = setUp();
  for (let number = 0; number < 20_000; number += 1) passes(`caller ${number}`);
  expect(limit.size).toBe(10_000);
});

describe('over HTTP', () => {
  let rig: TokenRig;
  beforeEach(async () => {
    rig = await startTokenRig();
  });
  afterEach(() => rig.stop());

  it('a token that asks too often gets 429 with Retry-After, and another one does not', async () => {
    const server = rig.start({ rate: { perSecond: 1, burst: 2 } });
    const [busy, calm] = [
      await server.make({ name: 'runner', scopes: ['read'] }),
      await server.make({ name: 'runner', scopes: ['read'] }),
    ];
    await server.read(busy.token);
    await server.read(busy.token);
    const refused = await server.read(busy.token);
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'too-many-requests' });
    expect((await server.read(calm.token)).status).toBe(200);
  });

  it('the process itself is never slowed down', async () => {
    const server = rig.start({ rate: { perSecond: 1, burst: 1 } });
    for (let number = 0; number < 5; number += 1) {
      expect((await server.asRoot('GET', '/api/tokens')).status).toBe(200);
    }
  });
});
