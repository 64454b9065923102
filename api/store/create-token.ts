// Stores a new token by its hash.

import type { TokenRow } from '../../schema/tables/tokens.ts';
import { type Database, sql } from './database.ts';

export type NewToken = Pick<
  TokenRow,
  'name' | 'scopes' | 'workflow' | 'target' | 'created_at' | 'created_by' | 'expires_at'
> & { readonly hash: Uint8Array };

export async function createToken(db: Database, token: NewToken): Promise<TokenRow> {
  const [created] = await db.batch(
    [
      sql(
        `INSERT INTO tokens (name, hash, scopes, workflow, target, created_at, created_by, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         RETURNING id, name, scopes, workflow, target, created_at, created_by, expires_at, revoked_at, last_used_at`,
        token.name,
        token.hash,
        token.scopes,
        token.workflow,
        token.target,
        token.created_at,
        token.created_by,
        token.expires_at,
      ),
    ],
    'write',
  );
  return created!.rows[0] as TokenRow;
}
