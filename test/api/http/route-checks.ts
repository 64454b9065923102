// What must hold for every route of any app, as lists of the routes that break it.

import type { RouterRoute } from 'hono/types';
import * as z from 'zod';
import { listRoutes } from '../../../api/http/route-list.ts';

export function routesWithoutPolicy(routes: readonly RouterRoute[]): string[] {
  return listRoutes(routes)
    .filter(({ policy }) => policy === null)
    .map(({ method, path }) => `${method} ${path}`);
}

/** Objects, however deep in a body, that would silently drop a field they do not know. */
export function routesThatIgnoreFields(routes: readonly RouterRoute[]): string[] {
  return listRoutes(routes).flatMap(({ method, path, json }) => {
    if (json === undefined) return [];
    const schema = z.toJSONSchema(json, { io: 'input', unrepresentable: 'any' });
    return isLoose(schema) ? [`${method} ${path}`] : [];
  });
}

function isLoose(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const isOpen = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema);
  return isOpen || Object.values(schema).some(isLoose);
}
