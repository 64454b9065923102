// Why a state is not settled, from its rows, with paths as its workflow writes them.

import { explain, type Reason } from '../../schema/reason.ts';
import type { Row } from './database.ts';
import { asTextOrNull } from './hashes.ts';
import { relativeTo } from './look-up.ts';
import { REASONS_OF, readReasons } from './reasons.ts';

/** Columns to be selected of `states s LEFT JOIN failures f`. */
export const TOLD_COLUMNS = `s.status, s.word, ${asTextOrNull('s.cache_key')} AS cache_key,
  f.failures, f.error, f.retry_at, ${REASONS_OF('s.id')} AS reasons`;

export function toldReasons(row: Row, root: string): Reason[] {
  const told = readReasons(row.reasons as string).map((reason) => placed(reason, root));
  const isOpen = ['stale', 'running', 'failed', 'exhausted'].includes(row.status as string);
  if (isOpen && told.length === 0 && row.cache_key === null) told.push({ reason: 'new-stage' });
  if (isOpen && row.error !== null)
    told.push({
      reason: 'last-attempt-failed',
      attempt: row.failures as number,
      error: row.error as string,
    });
  return told;
}

export function sentences(reasons: readonly Reason[]): string[] {
  return reasons.map(explain);
}

function placed(reason: Reason, root: string): Reason {
  return 'path' in reason ? { ...reason, path: relativeTo(root, reason.path) } : reason;
}
