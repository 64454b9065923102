// Lists tokens, oldest first, without their hashes.

import type { TokenRow } from '../../schema/tables/tokens.ts';
import { type Database, sql } from './database.ts';

export interface TokenPage {
  /** The id after which the page begins; 0 for the first. */
  readonly after: number;
  readonly limit: number;
}

export async function listTokens(db: Database, page: TokenPage): Promise<readonly TokenRow[]> {
  const [listed] = await db.batch(
    [
      sql(
        `SELECT id, name, scopes, workflow, target, created_at, created_by, expires_at, revoked_at, last_used_at
         FROM tokens WHERE id > ? ORDER BY id LIMIT ?`,
        page.after,
        page.limit,
      ),
    ],
    'read',
  );
  return listed!.rows as readonly TokenRow[];
}
