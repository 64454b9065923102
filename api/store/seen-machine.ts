// When a runner or watcher was last heard of.

import { type Statement, sql } from './database.ts';

export interface Sighting {
  readonly role: 'runner' | 'watcher';
  readonly name: string;
  readonly target: string;
  readonly nowMs: number;
  readonly facts?: unknown;
}

export function seenMachine({ role, name, target, nowMs, facts = {} }: Sighting): Statement {
  return sql(SEEN, role, name, target, JSON.stringify(facts), nowMs);
}

// Every five seconds is precise enough, and a row that is not written costs nothing.
const SEEN = `INSERT INTO machines (role, name, target, facts, first_seen_at, last_seen_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?5)
  ON CONFLICT (role, name) DO UPDATE SET target = excluded.target, facts = excluded.facts, last_seen_at = ?5
  WHERE last_seen_at <= ?5 - 5000 OR target <> excluded.target OR facts <> excluded.facts`;
