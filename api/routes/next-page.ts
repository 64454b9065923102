// The address of the next page in a Link header, so that lists stay bare arrays.

import type { Context } from 'hono';
import type { AppEnv } from '../parts.ts';

/** The same address with another `after`; encoded, so it is fit for a header whatever the names in it are. */
export function linkToNext(c: Context<AppEnv>, after: number | string | null): void {
  if (after === null) return;
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.set('after', String(after));
  c.header('Link', `<${pathname}?${searchParams}>; rel="next"`);
}
