import { describe, expect, it } from 'vitest';
import { Problem } from '../../../api/http/problem.ts';
import { allow } from '../../../api/http/route.ts';
import { DatabaseError, type DatabaseFault } from '../../../api/store/database.ts';
import { problemOf, type SmallApp, smallApp } from './small-app.ts';

const BOSS = { headers: { Authorization: 'Bearer boss' } };

function failing(error: Error, access: 'public' | 'admin' = 'admin'): SmallApp {
  return smallApp((app) =>
    app.get('/x', allow(access, { summary: 'fails' }), () => {
      throw error;
    }),
  );
}

function databaseError(
  code: DatabaseFault,
  message = '/srv/secret.db is locked',
  inDoubt = false,
): DatabaseError {
  return new DatabaseError({ code, message, hint: 'close /srv/secret.db', inDoubt });
}

describe('an error that leaves a route', () => {
  it('is itself if it is a problem, with its next step, further fields and headers', async () => {
    const mistake = new Problem({
      status: 409,
      code: 'lost-lease',
      message: 'the lease went to another runner',
      hint: 'claim again',
      extra: { token: 4, status: 'cannot be overwritten' },
      headers: { 'X-More': 'yes' },
    });
    const { app, reported } = failing(mistake);
    const response = await app.request('/x', BOSS);
    expect(response.status).toBe(409);
    expect(response.headers.get('X-More')).toBe('yes');
    expect(await problemOf(response)).toEqual({
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      code: 'lost-lease',
      detail: 'the lease went to another runner',
      hint: 'claim again',
      token: 4,
    });
    expect(reported).toEqual([]);
  });

  it('tells nothing of our insides if it is our own bug, and reports it under an incident', async () => {
    const bug = new TypeError('cannot read password of undefined');
    const { app, reported } = failing(bug);
    const response = await app.request('/x', BOSS);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain('password');
    expect(JSON.parse(text)).toMatchObject({ code: 'internal', incident: 'abababababababab' });
    expect(reported).toEqual([bug]);
  });

  it('is 503 with the hint of the database, and says whether the change may have happened', async () => {
    const { app, reported } = failing(databaseError('database-busy', undefined, true));
    const response = await app.request('/x', BOSS);
    expect(response.status).toBe(503);
    expect(response.headers.get('Retry-After')).toBe('1');
    expect(await problemOf(response)).toMatchObject({
      code: 'database-busy',
      hint: 'close /srv/secret.db',
      in_doubt: true,
    });
    expect(reported).toHaveLength(1);
  });

  it('does not tell a stranger where the database is', async () => {
    const response = await failing(databaseError('database-unusable'), 'public').app.request('/x');
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('/srv');
  });

  it('is a conflict if two requests stored one thing, without naming columns', async () => {
    const raced = databaseError('database-constraint', 'UNIQUE constraint failed: tokens.hash');
    const response = await failing(raced).app.request('/x', BOSS);
    expect(response.status).toBe(409);
    expect(await response.text()).not.toContain('tokens.hash');
  });

  it('is our own bug if any other constraint was broken', async () => {
    const wrong = databaseError('database-constraint', 'NOT NULL constraint failed: tokens.hash');
    expect((await failing(wrong).app.request('/x', BOSS)).status).toBe(500);
  });
});

describe('where no route is', () => {
  const { app } = smallApp((routes) => {
    routes.get('/things/:id', allow('public', { summary: 'one' }), (c) => c.text('one'));
    routes.delete('/things/:id', allow('public', { summary: 'gone' }), (c) => c.text('gone'));
  });

  it('names the path', async () => {
    const response = await app.request('/nothing/here');
    expect(response.status).toBe(404);
    expect((await problemOf(response)).detail).toBe('there is nothing at /nothing/here');
  });

  it('says which methods the path has if only the method is wrong', async () => {
    const response = await app.request('/things/4', { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe('GET, DELETE');
    expect((await problemOf(response)).hint).toBe('use GET, DELETE');
  });

  it('cuts a path of any length', async () => {
    const { detail } = await problemOf(app.request(`/${'x'.repeat(5_000)}`));
    expect(String(detail).length).toBeLessThan(300);
  });
});
