// When a runner or watcher was last heard of.

import { type Statement, sql } from './database.ts';

export interface Sighting {
  readonly role: 'runner' | 'watcher';
  readonly name: string;
  readonly target: string;
  readonly nowMs: number;
  readonly facts?: unknown;
}

/** Every five seconds is precise enough. */
const OFTEN_MS = 5_000;
/** Beyond this all are told again once, which costs a statement each. */
const MOST_MACHINES = 1_000;

/** What this process has written down already need not be said again, not even as a statement that changes nothing. */
export class Sightings {
  readonly #told = new Map<string, { readonly text: string; readonly atMs: number }>();

  isTold({ role, name, target, facts, nowMs }: Sighting): boolean {
    const told = this.#told.get(`${role} ${name}`);
    if (told === undefined || told.text !== textOf(target, facts)) return false;
    return nowMs >= told.atMs && nowMs < told.atMs + OFTEN_MS;
  }

  /** To be called when the batch with `seenMachine` was committed. */
  told({ role, name, target, facts, nowMs }: Sighting): void {
    if (this.#told.size >= MOST_MACHINES) this.#told.clear();
    this.#told.set(`${role} ${name}`, { text: textOf(target, facts), atMs: nowMs });
  }
}

function textOf(target: string, facts: unknown): string {
  return JSON.stringify([target, facts]);
}

export function seenMachine({ role, name, target, nowMs, facts = {} }: Sighting): Statement {
  return sql(SEEN, role, name, target, JSON.stringify(facts), nowMs, nowMs - OFTEN_MS);
}

// Another process may have written it: a row that is not written costs nothing.
const SEEN = `INSERT INTO machines (role, name, target, facts, first_seen_at, last_seen_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?5)
  ON CONFLICT (role, name) DO UPDATE SET target = excluded.target, facts = excluded.facts, last_seen_at = ?5
  WHERE last_seen_at <= ?6 OR target <> excluded.target OR facts <> excluded.facts`;
