// Schemas inside an OpenAPI document, where references start at the document and not at the schema.

import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Collects what schemas refer to, under names that no two share. */
export class SchemaShelf {
  readonly #schemas = new Map<string, JsonSchema>();

  /** `name` is used only if the schema refers to itself or has parts with names. */
  add(schema: z.ZodType, io: 'input' | 'output', name: string): JsonSchema {
    const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Record<string, unknown>;
    const { $schema: _, $defs, ...root } = made;
    for (const [part, value] of Object.entries(($defs ?? {}) as Record<string, JsonSchema>)) {
      this.#schemas.set(`${name}.${part}`, pointed(value, name) as JsonSchema);
    }
    const placed = pointed(root, name) as JsonSchema;
    if (!refersTo(root, '#')) return placed;
    this.#schemas.set(name, placed);
    return { $ref: `#/components/schemas/${name}` };
  }

  get all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#schemas);
  }
}

function pointed(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((entry) => pointed(entry, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? moved(inner, name) : pointed(inner, name),
    ]),
  );
}

function moved(reference: string, name: string): string {
  if (reference === '#') return `#/components/schemas/${name}`;
  return reference.replace('#/$defs/', `#/components/schemas/${name}.`);
}

function refersTo(value: unknown, reference: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key === '$ref' && inner === reference) || refersTo(inner, reference),
  );
}
