// Notes that a token was used, at most once in a while however many processes ask.

import { type Database, sql } from './database.ts';

export const TOUCH_EVERY_MS = 60_000;

export async function touchToken(db: Database, id: number, nowMs: number): Promise<void> {
  await db.batch(
    [
      sql(
        'UPDATE tokens SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?3)',
        nowMs,
        id,
        nowMs - TOUCH_EVERY_MS,
      ),
    ],
    'write',
  );
}
