// Migration 2: who may use the control plane.

import type { Migration } from '../migration.ts';

export const tokens: Migration = {
  id: 2,
  name: 'tokens',
  statements: [
    // Rows are never deleted, so that an event that names a token's id always means the same one.
    `CREATE TABLE tokens (
       id INTEGER PRIMARY KEY,
       name TEXT NOT NULL,
       hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
       scopes TEXT NOT NULL,
       workflow TEXT,
       target TEXT,
       created_at INTEGER NOT NULL,
       created_by TEXT NOT NULL,
       expires_at INTEGER,
       revoked_at INTEGER,
       last_used_at INTEGER
     ) STRICT`,
  ],
};
