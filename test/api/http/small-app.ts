// A small app on the foundation of the control plane, with callers made up by name instead of by credentials.

import { Hono } from 'hono';
import { handleError } from '../../../api/http/handle-error.ts';
import { notFound } from '../../../api/http/not-found.ts';
import { Problem } from '../../../api/http/problem.ts';
import type { AppEnv, Caller, Guard, Parts } from '../../../api/parts.ts';

export function caller(over: Partial<Caller> = {}): Caller {
  return { kind: 'token', name: 'somebody', scopes: ['admin'], workflow: null, target: null, ...over };
}

/** Admits whoever names one of these callers as a bearer. */
export function guardOf(callers: Readonly<Record<string, Caller>>): Guard {
  return {
    admit: async (request) => {
      const found = callers[request.headers.get('Authorization')?.replace('Bearer ', '') ?? ''];
      if (found !== undefined) return found;
      throw new Problem({ status: 401, code: 'no-credential', message: 'who are you?', hint: 'say it' });
    },
    forget: () => {},
  };
}

export interface SmallApp {
  readonly app: Hono<AppEnv>;
  readonly reported: unknown[];
}

/** `add` puts the routes in; it gets the app after its middleware. */
export function smallApp(
  add: (app: Hono<AppEnv>) => void,
  guard: Guard = guardOf({ boss: caller() }),
): SmallApp {
  const app = new Hono<AppEnv>();
  const reported: unknown[] = [];
  const report = (error: unknown) => reported.push(error);
  app.onError(handleError({ report, randomBytes: (count) => new Uint8Array(count).fill(0xab) }));
  app.notFound(notFound(app));
  app.use(async (c, next) => {
    c.set('guard', guard);
    c.set('parts', {} as Parts);
    await next();
  });
  add(app);
  return { app, reported };
}

export async function problemOf(response: Response | Promise<Response>): Promise<Record<string, unknown>> {
  const answer = await response;
  if (answer.headers.get('Content-Type') !== 'application/problem+json') {
    throw new Error(`not a problem: ${answer.status} ${await answer.text()}`);
  }
  return (await answer.json()) as Record<string, unknown>;
}
