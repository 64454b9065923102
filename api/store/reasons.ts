// The rows of `reasons` as the reasons that a verdict speaks of.

import type { Reason } from '../../schema/reason.ts';
import type { Blake3, StageId } from '../../schema/words.ts';
import { asTextOrNull } from './hashes.ts';

/** As many as a person reads; SQL for a JSON list of the rows of one state. */
const MOST = 20;
export const REASONS_OF = (state: string) => `(SELECT json_group_array(json_array(
    r.kind, p.path, ${asTextOrNull('r.old')}, ${asTextOrNull('r.now')}, r.detail))
  FROM (SELECT * FROM reasons WHERE state_id = ${state} LIMIT ${MOST}) r LEFT JOIN paths p ON p.id = r.path_id)`;

type ReasonRow = readonly [
  kind: string,
  path: string | null,
  old: Blake3 | null,
  now: Blake3 | null,
  detail: string | null,
];

export function readReasons(json: string): Reason[] {
  return (JSON.parse(json) as ReasonRow[]).map(toReason);
}

function toReason([kind, path, old, now, detail]: ReasonRow): Reason {
  const [word] = kind.split(':');
  switch (word) {
    case 'dep':
      return { reason: 'dep-changed', path: path!, old, now };
    case 'out-missing':
      return { reason: 'output-missing', path: path! };
    case 'out-differs':
      return { reason: 'output-differs', path: path!, old: old!, now: now! };
    case 'after':
      return { reason: 'after-ran', stage: detail as StageId };
    case 'invalidated':
      return { reason: 'invalidated', by: detail ?? '' };
    case 'forced':
      return { reason: 'forced' };
    case 'due':
      return { reason: 'always-due' };
    case 'definition':
      return JSON.parse(detail!) as Reason;
    default:
      throw new Error(`unknown reason ${kind}`);
  }
}
