// The first middleware of the app: gives every request the parts and the guard of this app.

import type { MiddlewareHandler } from 'hono';
import { createGuard } from '../auth/guard.ts';
import type { AppEnv, Guard, Parts } from '../parts.ts';

/** One guard per app: it remembers tokens and counts requests. */
export function equip(parts: Parts, guard: Guard = createGuard(parts)): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    c.set('parts', parts);
    c.set('guard', guard);
    await next();
  };
}
