// The one way a route is declared: who may use it, and what its documentation says.

import type { Context, MiddlewareHandler } from 'hono';
import type * as z from 'zod';
import { holds } from '../auth/scope.ts';
import type { AppEnv, Caller, Scope } from '../parts.ts';
import { Problem } from './problem.ts';
import { checkText } from './text-check.ts';

export type Access = 'public' | Scope;

export interface RouteDoc {
  readonly summary: string;
  /** Needed only where the route has no `query(schema)`. */
  readonly query?: z.ZodObject;
  /** Needed only where the route has no `jsonBody(schema)`. */
  readonly body?: z.ZodType;
  /** The media type of a body that the route reads by itself. */
  readonly rawBody?: string;
  /** A schema for JSON, a media type for anything else. */
  readonly responses?: Readonly<Record<number, z.ZodType | string>>;
  /**
   * 'checked': the route calls `mayTouch` or filters by `limitsOf`. Without it a caller that is limited to a
   * workflow or target is refused, so a route that forgets about limits leaks nothing.
   */
  readonly limits?: 'checked';
}

export interface Policy {
  readonly access: Access;
  readonly doc: RouteDoc;
}

/** Where `allow` keeps its policy, so that a test can find every route that has none. */
export const POLICY: unique symbol = Symbol('the policy of a route');

/** The first handler of every route. */
export function allow(access: Access, doc: RouteDoc): MiddlewareHandler<AppEnv> {
  const enforce: MiddlewareHandler<AppEnv> = async (c, next) => {
    // The database takes no NUL; in a URL it can stand nowhere but here.
    if (/%00/.test(c.req.url)) checkText('\0', 'the URL');
    if (access === 'public') return next();
    const caller = await callerOf(c);
    c.set('caller', caller);
    requireScope(caller, access);
    if (doc.limits !== 'checked') refuseLimited(caller);
    await next();
    if (c.error === undefined && c.res.ok) demandChecked(c, caller);
  };
  return Object.assign(enforce, { [POLICY]: { access, doc } satisfies Policy });
}

export function policyOf(handler: unknown): Policy | undefined {
  return (handler as { [POLICY]?: Policy })[POLICY];
}

interface Touched {
  readonly workflow?: string | undefined;
  readonly target?: string | undefined;
}

/** Throws 403 if the caller is limited to another workflow or target; what is left out is not touched. */
export function mayTouch(c: Context<AppEnv>, touched: Touched): void {
  const limits = limitsOf(c);
  for (const word of ['workflow', 'target'] as const) {
    const only = limits[word];
    if (only !== null && touched[word] !== undefined && touched[word] !== only) throw outside(word, only);
  }
}

/** For routes that list: what to filter by; null means no limit. */
export function limitsOf(c: Context<AppEnv>): Pick<Caller, 'workflow' | 'target'> {
  limitsAsked.add(c);
  const { workflow, target } = c.get('caller');
  return { workflow, target };
}

const limitsAsked = new WeakSet<Context>();

async function callerOf(c: Context<AppEnv>): Promise<Caller> {
  // Under Node's server and in tests the bindings may be missing altogether.
  const trusted = (c.env as AppEnv['Bindings'] | undefined)?.trusted;
  if (trusted !== undefined) return trusted;
  const caller = await c.get('guard').admit(c.req.raw);
  if (caller.kind === 'access') refuseCrossSite(c);
  return caller;
}

function requireScope(caller: Caller, needed: Scope): void {
  if (holds(caller, needed)) return;
  const held = caller.scopes.length === 0 ? 'none' : caller.scopes.join(', ');
  throw new Problem({
    status: 403,
    code: 'scope-missing',
    message: `this needs the scope ${needed}; ${caller.name} has ${held}`,
    hint: `use a token that was made with --scope ${needed}`,
    extra: { needed, held: caller.scopes },
  });
}

function refuseLimited({ workflow, target }: Caller): void {
  if (workflow !== null) throw outside('workflow', workflow);
  if (target !== null) throw outside('target', target);
}

function outside(word: 'workflow' | 'target', only: string): Problem {
  return new Problem({
    status: 403,
    code: 'outside-limits',
    message: `this token is limited to the ${word} ${only}`,
    hint: `use a token without that limit, or one for the ${word} in question`,
    extra: { [word]: only },
  });
}

/** Our own bug, found by the first limited caller rather than never. */
function demandChecked(c: Context<AppEnv>, { workflow, target }: Caller): void {
  if ((workflow === null && target === null) || limitsAsked.has(c)) return;
  throw new Error(`${c.req.method} ${c.req.path} says that it checks limits and did not`);
}

/** Access makes its header of a cookie, which a browser also sends when another site posts a form to us. */
function refuseCrossSite(c: Context<AppEnv>): void {
  const origin = c.req.header('Origin');
  const isSafe = c.req.method === 'GET' || c.req.method === 'HEAD';
  if (isSafe || origin === undefined || origin === new URL(c.req.url).origin) return;
  throw new Problem({
    status: 403,
    code: 'cross-site',
    message: 'this request was sent by a page of another site',
    hint: 'send it from the dashboard, or with a token',
  });
}
