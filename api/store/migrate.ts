// Brings a database up to the tables this program knows, one atomic batch per migration.

import type { Migration } from '../../schema/migration.ts';
import { type Database, DatabaseBug, DatabaseError, type Statement, sql } from './database.ts';

/** The ids that this call applied; a database that is up to date costs one batch of two statements. */
export async function migrate(
  db: Database,
  migrations: readonly Migration[],
  nowMs: number,
): Promise<readonly number[]> {
  checkNumbers(migrations);
  const applied: number[] = [];
  for (;;) {
    // Asked anew each time: another process, perhaps a newer one, may be migrating too.
    const newest = await newestApplied(db);
    refuseNewer(newest, migrations.length);
    const next = migrations[newest];
    if (next === undefined) return applied;
    if (await apply(db, next, nowMs)) applied.push(next.id);
  }
}

/** Throws unless the database is exactly as this program knows it; changes nothing. */
export async function checkVersion(db: Database, migrations: readonly Migration[]): Promise<void> {
  const [there] = await db.batch(
    [sql("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'sluice_migrations'")],
    'read',
  );
  const newest = there!.rows[0]!.n === 0 ? 0 : await newestRead(db);
  refuseNewer(newest, migrations.length);
  if (newest === migrations.length) return;
  throw new DatabaseError({
    code: 'database-older',
    message: `this database is at migration ${newest}; this program needs ${migrations.length}`,
    hint: 'run `sluice db migrate --db URL` once, from any machine',
  });
}

async function newestRead(db: Database): Promise<number> {
  const [found] = await db.batch(
    [sql('SELECT coalesce(max(id), 0) AS newest FROM sluice_migrations')],
    'read',
  );
  return Number(found!.rows[0]!.newest);
}

function checkNumbers(migrations: readonly Migration[]): void {
  for (const [index, { id, name }] of migrations.entries()) {
    if (id !== index + 1) throw new DatabaseBug(`migration '${name}' has id ${id}, expected ${index + 1}`);
  }
}

async function newestApplied(db: Database): Promise<number> {
  const [, found] = await db.batch(
    [
      sql(
        'CREATE TABLE IF NOT EXISTS sluice_migrations ' +
          '(id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
      ),
      sql('SELECT coalesce(max(id), 0) AS newest FROM sluice_migrations'),
    ],
    'write',
  );
  return Number(found!.rows[0]!.newest);
}

function refuseNewer(newest: number, known: number): void {
  if (newest <= known) return;
  throw new DatabaseError({
    code: 'database-newer',
    message:
      `this database was made by a newer sluice (migration ${newest}); ` +
      `this program knows up to ${known}; upgrade`,
    hint: 'upgrade sluice on this machine',
  });
}

/**
 * False if another process applied it first: the row with its id is written before anything else, so of two
 * batches the second fails on that key and changes nothing.
 */
async function apply(db: Database, migration: Migration, nowMs: number): Promise<boolean> {
  const { id, name } = migration;
  const claim = sql('INSERT INTO sluice_migrations (id, name, applied_at) VALUES (?, ?, ?)', id, name, nowMs);
  const steps: readonly Statement[] = [claim, ...migration.statements.map((text) => sql(text))];
  try {
    await db.batch(steps, 'write');
    return true;
  } catch (error) {
    const isTaken = error instanceof DatabaseError && error.code === 'database-constraint';
    if (isTaken && (await newestApplied(db)) >= id) return false;
    throw error;
  }
}
