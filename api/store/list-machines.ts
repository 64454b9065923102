// Runners and watchers, with when they were last heard of.

import type { MachineAnswer } from '../../schema/read-answers.ts';
import type { MachineRow } from '../../schema/tables/control-plane.ts';
import { sql } from './database.ts';
import { isoTime } from './look-up.ts';
import type { Store } from './store.ts';

/** Names are chosen by their owners; the list stays readable whatever they choose. */
const MOST = 1_000;

export async function listMachines({ db }: Store): Promise<MachineAnswer[]> {
  const [found] = await db.batch([sql('SELECT * FROM machines ORDER BY role, name LIMIT ?', MOST)], 'read');
  return (found!.rows as readonly MachineRow[]).map(({ role, name, target, facts, ...seen }) => ({
    role,
    name,
    targets: target.split(' '),
    facts: JSON.parse(facts),
    first_seen_at: isoTime(seen.first_seen_at)!,
    last_seen_at: isoTime(seen.last_seen_at)!,
  }));
}
