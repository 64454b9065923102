// Revokes a token for good; a second time changes nothing and gives the first answer.

import type { TokenRow } from '../../schema/tables/tokens.ts';
import { type Database, sql } from './database.ts';

/** Undefined if there is no such token. */
export async function revokeToken(db: Database, id: number, nowMs: number): Promise<TokenRow | undefined> {
  const [revoked] = await db.batch(
    [
      sql(
        `UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?
         RETURNING id, name, scopes, workflow, target, created_at, created_by, expires_at, revoked_at, last_used_at`,
        nowMs,
        id,
      ),
    ],
    'write',
  );
  return revoked!.rows[0] as TokenRow | undefined;
}
