// One round trip for a question about one workflow: asked by what is remembered of the registry, and asked again
// only if another process registered something meanwhile.

import { type Rows, type Statement, sql, type Value } from './database.ts';
import type { KnownWorkflow, Registered } from './registered.ts';
import type { Store } from './store.ts';

export interface Found {
  readonly known: Registered;
  readonly of: KnownWorkflow;
  /** One per statement. */
  readonly results: readonly Rows[];
}

type Ask = (of: KnownWorkflow, known: Registered) => readonly Statement[];

const MOST_ATTEMPTS = 10;

/** Null if there is no such workflow. */
export async function lookUp({ db, registered }: Store, workflow: string, ask: Ask): Promise<Found | null> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const known = await registered.current();
    const of = known.workflows.get(workflow);
    const statements = of === undefined ? [] : ask(of, known);
    const [version, ...results] = await db.batch([VERSION, ...statements], 'read');
    if (version!.rows[0]!.value === known.version) return of === undefined ? null : { known, of, results };
    registered.forget();
  }
  throw new Error(`the registry changed ${MOST_ATTEMPTS} times during one look`);
}

const VERSION = sql("SELECT value FROM counters WHERE name = 'registry'");

export function isoTime(ms: Value | undefined): string | null {
  return typeof ms === 'number' ? new Date(ms).toISOString() : null;
}

/** As the workflow's file would write it. */
export function relativeTo(root: string, path: string): string {
  const directory = root.endsWith('/') ? root : `${root}/`;
  return path.startsWith(directory) && path.length > directory.length ? path.slice(directory.length) : path;
}
