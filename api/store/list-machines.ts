// Runners and watchers, with when they were last heard of.

import type { MachineAnswer } from '../../schema/read-answers.ts';
import { sql } from './database.ts';
import { isoTime } from './look-up.ts';
import type { Store } from './store.ts';

/** Names are chosen by their owners; the list stays readable whatever they choose. */
const MOST = 1_000;

export async function listMachines({ db }: Store): Promise<MachineAnswer[]> {
  const [found] = await db.batch([sql('SELECT * FROM machines ORDER BY role, name LIMIT ?', MOST)], 'read');
  return found!.rows.map((row) => ({
    role: row.role as MachineAnswer['role'],
    name: row.name as string,
    targets: (row.target as string).split(' '),
    facts: JSON.parse(row.facts as string),
    first_seen_at: isoTime(row.first_seen_at)!,
    last_seen_at: isoTime(row.last_seen_at)!,
  }));
}
