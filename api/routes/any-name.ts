// Lets names in URLs hold raw slashes and line breaks.
//
// A client that encodes its names never needs it: each name is then one segment, and the routes as declared match.
// They come first, so where a raw slash could mean two things the encoded form decides.

import type { Hono } from 'hono';
import type { AppEnv } from '../parts.ts';

/** Adds to every route with `:names` its spellings for raw slashes, and for the entity whose name is empty. */
export function withAnyNames<Routes extends Hono<AppEnv>>(routes: Routes, names: readonly string[]): Routes {
  for (const { method, path, handler } of [...routes.routes])
    for (const spelling of spellings(path, names)) routes.on(method, spelling, handler);
  return routes;
}

function spellings(path: string, names: readonly string[]): string[] {
  // The router's own classes: `.` matches no line break, `[^]` anything.
  const loose = names.reduce((text, name) => text.replace(`/:${name}`, `/:${name}{[^]+}`), path);
  const both = loose === path ? [path] : [path, loose];
  const unnamed = both.flatMap((each) => {
    const [before, after] = each.split(/\/:entity(?:\{\[\^\]\+\})?/);
    return after === undefined ? [] : [`${before}/${after}`, `${before}${after}`];
  });
  return [...unnamed, ...both.slice(1)];
}
