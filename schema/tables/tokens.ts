// The tokens that machines and people hold, as rows. For types only: programs import it with `import type`.

import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const tokens = sqliteTable('tokens', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  /** BLAKE3 of the token; the token itself is stored nowhere. */
  hash: blob('hash').$type<Uint8Array>().notNull().unique(),
  /** Separated by one space. */
  scopes: text('scopes').notNull(),
  /** The only workflow or target its holder may touch. */
  workflow: text('workflow'),
  target: text('target'),
  created_at: integer('created_at').notNull(),
  created_by: text('created_by').notNull(),
  expires_at: integer('expires_at'),
  revoked_at: integer('revoked_at'),
  last_used_at: integer('last_used_at'),
});

/** What may be shown: without the hash. */
export type TokenRow = Omit<typeof tokens.$inferSelect, 'hash'>;
