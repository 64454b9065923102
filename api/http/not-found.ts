// The answer where no route is: 404, or 405 where the path has other methods.

import type { Context, Hono } from 'hono';
import type { AppEnv } from '../parts.ts';
import { Problem, problemResponse } from './problem.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** For `app.notFound`; the app itself knows which methods a path has. */
export function notFound(app: Pick<Hono<AppEnv>, 'router'>): (c: Context<AppEnv>) => Response {
  return (c) => {
    const { method, path } = c.req;
    const methods = METHODS.filter((other) => hasRoute(app, other, path));
    const isOther = methods.length > 0 && !methods.includes(method);
    return problemResponse(isOther ? wrongMethod(c, methods) : noRoute(path));
  };
}

/** Middleware is registered for all methods and does not make a path exist. */
function hasRoute(app: Pick<Hono<AppEnv>, 'router'>, method: string, path: string): boolean {
  const [handlers] = app.router.match(method, path);
  return handlers.some(([[, route]]) => route.method === method);
}

function wrongMethod(c: Context<AppEnv>, methods: readonly string[]): Problem {
  const allowed = methods.join(', ');
  return new Problem({
    status: 405,
    code: 'method-not-allowed',
    message: `${shown(c.req.path)} has no ${shown(c.req.method)}`,
    hint: `use ${allowed}`,
    headers: { Allow: allowed },
  });
}

function noRoute(path: string): Problem {
  return new Problem({
    status: 404,
    code: 'no-such-route',
    message: `there is nothing at ${shown(path)}`,
    hint: 'see /api/openapi.json for what there is',
  });
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
