// The routes of an app with what they say about themselves, for the OpenAPI document and for tests.

import type { RouterRoute } from 'hono/types';
import type * as z from 'zod';
import { type Policy, policyOf } from './route.ts';
import { checksOf } from './validate.ts';

export interface ListedRoute {
  readonly method: string;
  /** As declared: `/api/workflows/:name{[^]+}`. */
  readonly path: string;
  /** Null is a mistake: anybody may use the route. */
  readonly policy: Policy | null;
  readonly json: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
}

/** `app.routes` has one entry per handler; those of one route stand under one method and path. */
export function listRoutes(entries: readonly RouterRoute[]): readonly ListedRoute[] {
  const handlers = new Map<string, RouterRoute[]>();
  for (const entry of entries.filter(isRoute)) {
    const name = `${entry.method} ${entry.path}`;
    handlers.set(name, [...(handlers.get(name) ?? []), entry]);
  }
  return [...handlers.values()].map(listed);
}

/** Middleware is registered for all methods and takes `next`; a handler for all methods does not. */
function isRoute({ method, handler }: RouterRoute): boolean {
  return method !== 'ALL' || handler.length < 2;
}

function listed(entries: readonly RouterRoute[]): ListedRoute {
  const { method, path, handler } = entries[0]!;
  // Only the first counts: what stands before a policy is not protected by it.
  const policy = policyOf(handler) ?? null;
  const checks = entries.flatMap((entry) => checksOf(entry.handler) ?? []);
  return {
    method,
    path,
    policy,
    json: checks.find(({ of }) => of === 'json')?.schema ?? policy?.doc.body,
    query: checks.find(({ of }) => of === 'query')?.schema ?? policy?.doc.query,
  };
}
