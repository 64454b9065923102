// The OpenAPI document, made from what the routes themselves check and promise.

import type { RouterRoute } from 'hono/types';
import type * as z from 'zod';
import { openApiPath } from './openapi-path.ts';
import { type JsonSchema, SchemaShelf } from './openapi-schema.ts';
import type { Policy } from './route.ts';
import { type ListedRoute, listRoutes } from './route-list.ts';

type Json = Readonly<Record<string, unknown>>;

export interface OpenApiDocument extends Json {
  readonly openapi: '3.1.0';
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json & { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export function openApiDocument(
  routes: readonly RouterRoute[],
  { version }: { readonly version: string },
): OpenApiDocument {
  const shelf = new SchemaShelf();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of listRoutes(routes)) {
    const { path } = openApiPath(route.path);
    if (route.policy === null || route.method === 'ALL') continue;
    paths[path] ??= {};
    // Two spellings of one path: the router takes the one declared first.
    paths[path][route.method.toLowerCase()] ??= operation(route, route.policy, shelf);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version },
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'sluice token create' } },
      responses: { Problem: PROBLEM_RESPONSE },
      schemas: { Problem: PROBLEM, ...shelf.all },
    },
  };
}

function operation(route: ListedRoute, { access, doc }: Policy, shelf: SchemaShelf): Json {
  const { path, params } = openApiPath(route.path);
  const operationId = nameOf(route.method, path);
  const parameters = [
    ...params.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...queryParameters(route.query, shelf, operationId),
  ];
  const requestBody = bodyOf(route, shelf, operationId);
  return {
    operationId,
    summary: doc.summary,
    ...(access === 'public' ? {} : { description: `Needs the scope ${access}.` }),
    security: access === 'public' ? [] : [{ token: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(doc.responses ?? {}, shelf, operationId),
  };
}

/** `PUT /api/w/{name}` is putApiWName. */
function nameOf(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return method.toLowerCase() + words.join('');
}

function queryParameters(query: z.ZodType | undefined, shelf: SchemaShelf, name: string): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = shelf.add(query, 'input', `${name}Query`) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([field, schema]) => ({
    name: field,
    in: 'query',
    required: required.includes(field),
    schema,
  }));
}

function bodyOf({ json, policy }: ListedRoute, shelf: SchemaShelf, name: string): Json | undefined {
  const content: Record<string, Json> = {};
  if (json !== undefined) content['application/json'] = { schema: shelf.add(json, 'input', `${name}Body`) };
  if (policy?.doc.rawBody !== undefined) content[policy.doc.rawBody] = { schema: { type: 'string' } };
  return Object.keys(content).length === 0 ? undefined : { required: true, content };
}

type Responses = Readonly<Record<number, z.ZodType | string>>;

function responsesOf(declared: Responses, shelf: SchemaShelf, name: string): Json {
  const responses: Record<string, Json> = { default: { $ref: '#/components/responses/Problem' } };
  for (const [status, answer] of Object.entries(declared)) {
    const isSchema = typeof answer !== 'string';
    const schema = isSchema ? shelf.add(answer, 'output', `${name}${status}`) : { type: 'string' };
    const type = isSchema ? 'application/json' : answer;
    responses[status] = { description: 'Done', content: { [type]: { schema } } };
  }
  if (Object.keys(declared).length === 0) responses['200'] = { description: 'Done' };
  return responses;
}

const text = { type: 'string' };

const PROBLEM: JsonSchema = {
  type: 'object',
  description:
    'RFC 9457, with a code for scripts and the next step for people; further fields depend on the code.',
  required: ['type', 'title', 'status', 'code', 'detail', 'hint'],
  properties: { type: text, title: text, status: { type: 'integer' }, code: text, detail: text, hint: text },
};

const PROBLEM_RESPONSE: Json = {
  description: 'Refused or failed; nothing was changed unless in_doubt says otherwise.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};
