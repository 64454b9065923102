// Finds a token by its hash; the unique index makes it one look, whatever the number of tokens.

import type { TokenRow } from '../../schema/tables/tokens.ts';
import { type Database, sql } from './database.ts';

/** Expired and revoked ones too: only the caller knows what time it is. */
export async function findToken(db: Database, hash: Uint8Array): Promise<TokenRow | undefined> {
  const [found] = await db.batch(
    [
      sql(
        `SELECT id, name, scopes, workflow, target, created_at, created_by, expires_at, revoked_at, last_used_at
         FROM tokens WHERE hash = ?`,
        hash,
      ),
    ],
    'read',
  );
  return found!.rows[0] as TokenRow | undefined;
}
