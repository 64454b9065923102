// Checks the body and the query of a request, and gives both their types in the routes and in the client.

import type { MiddlewareHandler } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../parts.ts';
import { readJson } from './body.ts';
import { invalid } from './issues.ts';
import { checkText } from './text-check.ts';

/** Where a validator keeps its schema, so that the OpenAPI document is made from what is really checked. */
export const CHECKS: unique symbol = Symbol('what a validator checks');

export interface Checks {
  readonly of: 'json' | 'query';
  readonly schema: z.ZodType;
}

type JsonInput<S extends z.ZodType> = { in: { json: z.input<S> }; out: { json: z.output<S> } };

/** `c.req.valid('json')`. Fields the schema does not know are refused. */
export function jsonBody<S extends z.ZodType>(schema: S): MiddlewareHandler<AppEnv, string, JsonInput<S>> {
  const strict = refusingUnknown(schema);
  const validate: MiddlewareHandler<AppEnv, string, JsonInput<S>> = async (c, next) => {
    const parsed = strict.safeParse(await readJson(c));
    if (!parsed.success) throw invalid('body', parsed.error);
    c.req.addValidatedData('json', parsed.data as object);
    await next();
  };
  return withChecks(validate, { of: 'json', schema: strict });
}

/** A client writes text into a URL, whatever the schema makes of it afterwards. */
type InUrl<Field> = Field extends string | readonly string[] | undefined ? Field : string;
type QueryInput<S extends z.ZodObject> = {
  in: { query: { [Name in keyof z.input<S>]: InUrl<z.input<S>[Name]> } };
  out: { query: z.output<S> };
};

/** `c.req.valid('query')`. A name given twice is an array, so it is refused unless the schema takes one. */
export function query<S extends z.ZodObject>(schema: S): MiddlewareHandler<AppEnv, string, QueryInput<S>> {
  const strict = refusingUnknown(schema);
  const validate: MiddlewareHandler<AppEnv, string, QueryInput<S>> = async (c, next) => {
    const parsed = strict.safeParse(readQuery(c.req.queries()));
    if (!parsed.success) throw invalid('query', parsed.error);
    c.req.addValidatedData('query', parsed.data as object);
    await next();
  };
  return withChecks(validate, { of: 'query', schema: strict });
}

export function checksOf(handler: unknown): Checks | undefined {
  return (handler as { [CHECKS]?: Checks })[CHECKS];
}

function withChecks<Handler extends object>(handler: Handler, checks: Checks): Handler {
  return Object.assign(handler, { [CHECKS]: checks });
}

function readQuery(given: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(given)) {
    for (const text of [name, ...values]) checkText(text, 'the query');
    read[name] = values.length === 1 ? values[0] : values;
  }
  return read;
}

/** An object that was declared neither strict nor loose; what lies deeper is declared by its author. */
function refusingUnknown(schema: z.ZodType): z.ZodType {
  const isPlain = schema instanceof z.ZodObject && schema.def.catchall === undefined;
  return isPlain ? schema.strict() : schema;
}
