// The database as a file in this process, by raw libsql; Node only.
//
// DANGER, reproduced with libsql 0.5.29: a prepared statement that fails with SQLITE_BUSY is never reset, so it
// stays "in progress". From then on a write outside a transaction on that connection is acknowledged and never
// committed (100 of 100 lost after kill -9), COMMIT fails, and the write lock stays held until the garbage
// collector finds the statement: `close()` does not close while a statement lives. Hence three rules here:
//   1. every batch stands between BEGIN and COMMIT, and these go through `exec`, which finalizes on failure;
//   2. after any error but a plain SQL or constraint error the connection is rolled back and never used again;
//   3. all of a batch runs in one synchronous stretch, so nothing interleaves.
// Writes that come in the same turn of the event loop share a transaction (`write-queue.ts`).

import { closeSync, fchmodSync, fstatSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import Libsql from 'libsql';
import {
  type BatchMode,
  type Bound,
  bind,
  bug,
  checkColumns,
  type Database,
  DatabaseBug,
  DatabaseError,
  type DatabaseFault,
  excerpt,
  faultOf,
  type Inspected,
  plainRow,
  type Rows,
  remember,
  type Statement,
  type Value,
} from './database.ts';
import { WriteQueue, type Written } from './write-queue.ts';

export interface EmbeddedOptions {
  readonly file: string;
  /** How long another process may hold the lock; the event loop stands still meanwhile. */
  readonly busyTimeoutMs?: number;
}

export function openEmbedded(options: EmbeddedOptions): Database {
  const file = resolve(options.file);
  const identity = opening(file, () => createPrivately(file));
  return new EmbeddedDatabase(file, identity, options.busyTimeoutMs ?? 5_000);
}

class EmbeddedDatabase implements Database {
  readonly stats = { statements: 0, batches: 0 };
  readonly #file: string;
  readonly #identity: string;
  readonly #busyTimeoutMs: number;
  readonly #known = new Map<string, Inspected>();
  readonly #writes: WriteQueue<readonly Bound[], readonly Rows[]>;
  #connection: Connection | null;
  #isClosed = false;

  constructor(file: string, identity: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#identity = identity;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#connection = opening(file, () => connect(file, busyTimeoutMs));
    this.#writes = new WriteQueue((writes) => this.#transact(writes, 'write'));
  }

  async batch(statements: readonly Statement[], mode: BatchMode): Promise<readonly Rows[]> {
    const bound = bind(statements, mode, this.#known);
    this.stats.batches += 1;
    this.stats.statements += bound.length;
    if (mode === 'write') return this.#writes.put(bound);
    const read = this.#transact([bound], mode);
    if (read.kind === 'done') return read.answers[0]!;
    throw read.error;
  }

  #transact(batches: readonly (readonly Bound[])[], mode: BatchMode): Written<readonly Rows[]> {
    let connection: Connection;
    try {
      connection = this.#connected();
    } catch (error) {
      return { kind: 'failed', error, isOfOne: false };
    }
    const outcome = transact(connection, batches, mode);
    if (outcome.kind === 'done') return outcome;
    if (!isRecovered(connection, outcome)) this.#connection = null;
    return {
      kind: 'failed',
      error: explain(this.#file, outcome),
      isOfOne: outcome.during === 'statement',
    };
  }

  async close(): Promise<void> {
    this.#writes.flush();
    if (this.#connection !== null) abandon(this.#connection, 'PRAGMA wal_checkpoint(TRUNCATE)');
    this.#connection = null;
    this.#isClosed = true;
  }

  /** Only the very file that was opened first is opened again, never a new empty one in its place. */
  #connected(): Connection {
    if (this.#isClosed) bug('used after close', this.#file);
    this.#connection ??= opening(this.#file, () => {
      if (identityOf(statSync(this.#file)) !== this.#identity)
        throw new Error('it was replaced while in use');
      return connect(this.#file, this.#busyTimeoutMs);
    });
    return this.#connection;
  }
}

interface Connection {
  readonly raw: Libsql.Database;
  readonly prepared: Map<string, Prepared>;
}

type Prepared = (args: Bound['args']) => Rows;

type Outcome = { readonly kind: 'done'; readonly answers: readonly (readonly Rows[])[] } | Failure;

interface Failure {
  readonly kind: 'failed';
  readonly during: 'open' | 'begin' | 'statement' | 'commit';
  readonly sql: string;
  readonly error: unknown;
}

const NO_ROWS: Rows = { rows: [] };

/** SQLite gives the -wal and -shm files the mode of the file itself. */
function createPrivately(file: string): string {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    const stat = fstatSync(descriptor);
    if (stat.uid === process.getuid?.()) fchmodSync(descriptor, 0o600);
    return identityOf(stat);
  } finally {
    closeSync(descriptor);
  }
}

function identityOf(stat: { readonly dev: number; readonly ino: number }): string {
  return `${stat.dev}:${stat.ino}`;
}

/** Reads the schema too, so that a file that is no database is told at once. */
function connect(file: string, busyTimeoutMs: number): Connection {
  const raw = new Libsql(file, { timeout: busyTimeoutMs });
  try {
    raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
    raw.exec('SELECT count(*) FROM sqlite_schema');
    const [journal] = raw.prepare('PRAGMA journal_mode').all() as { journal_mode: string }[];
    if (journal?.journal_mode !== 'wal') throw new Error('its file system cannot hold a write-ahead log');
    return { raw, prepared: new Map() };
  } catch (error) {
    raw.close();
    throw error;
  }
}

function transact(connection: Connection, batches: readonly (readonly Bound[])[], mode: BatchMode): Outcome {
  const answers: (readonly Rows[])[] = [];
  let [during, text]: [Failure['during'], string] = ['begin', ''];
  try {
    connection.raw.exec(mode === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN');
    during = 'statement';
    for (const batch of batches) {
      const rows: Rows[] = [];
      for (const { sql, args } of batch) {
        text = sql;
        rows.push(remember(connection.prepared, sql, (each) => prepare(connection.raw, each))(args));
      }
      answers.push(rows);
    }
    during = 'commit';
    connection.raw.exec('COMMIT');
    return { kind: 'done', answers };
  } catch (error) {
    return { kind: 'failed', during, sql: text, error };
  }
}

/** `run` would leave a statement that yields rows in progress, so each kind has its own call. */
function prepare(raw: Libsql.Database, text: string): Prepared {
  const statement = raw.prepare<[Bound['args']]>(text);
  if (!statement.reader) {
    return (args) => {
      statement.run(args);
      return NO_ROWS;
    };
  }
  const names = statement.columns().map((column) => column.name);
  checkColumns(names, text);
  return (args) => {
    const rows = statement.all(args) as Record<string, Value | ArrayBuffer>[];
    return { rows: rows.map(plainRow) };
  };
}

/** True if the connection is as good as before the batch; if not, it has let go of its locks for good. */
function isRecovered(connection: Connection, failure: Failure): boolean {
  const code = sqliteCode(failure.error);
  const isHarmless = code === 'SQLITE_ERROR' || code.startsWith('SQLITE_CONSTRAINT');
  if (failure.during === 'statement' && isHarmless) {
    try {
      if (connection.raw.inTransaction) connection.raw.exec('ROLLBACK');
      return true;
    } catch {
      // A connection that cannot roll back is given up below; the first error is the one worth telling.
    }
  }
  abandon(connection, 'ROLLBACK');
  return false;
}

/** The last words release at once what the garbage collector would only release later. */
function abandon(connection: Connection, lastWords: string): void {
  try {
    connection.raw.exec(lastWords);
  } catch {
    // No transaction was open, or another process still reads the log: there is nothing of ours to release.
  }
  connection.prepared.clear();
  connection.raw.close();
}

function opening<Result>(file: string, open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    throw explain(file, { kind: 'failed', during: 'open', sql: '', error });
  }
}

function sqliteCode(error: unknown): string {
  return error instanceof Libsql.SqliteError ? error.code : '';
}

function explain(file: string, { during, sql, error }: Failure): Error {
  if (error instanceof DatabaseBug) return error;
  const detail = error instanceof Error ? error.message : String(error);
  const code = faultOf(sqliteCode(error)) ?? (during === 'open' ? 'database-unusable' : undefined);
  if (code === undefined) return new DatabaseBug(`${detail}: ${excerpt(sql)}`, { cause: error });
  const [message, hint] = words(code, file, detail);
  return new DatabaseError({ code, message, hint, cause: error, inDoubt: isInDoubt(during, code) });
}

/** A commit whose last page did not get its answer may still be found whole when the log is read again. */
function isInDoubt(during: Failure['during'], code: DatabaseFault): boolean {
  return during === 'commit' && code !== 'database-busy' && code !== 'database-constraint';
}

function words(code: DatabaseFault, file: string, detail: string): readonly [message: string, hint: string] {
  switch (code) {
    case 'database-busy':
      return [`${file} is locked by another process`, `close other programs that use ${file} and try again`];
    case 'database-constraint':
      return [detail, 'look at what is stored under that key'];
    case 'database-corrupt':
      return [
        `${file} is damaged or is not a database: ${detail}`,
        `move ${file}, ${file}-wal and ${file}-shm aside and start again: it is rebuilt from lock files and disk`,
      ];
    case 'database-full':
      return [`the disk that holds ${file} is full`, 'free some space and try again'];
    default:
      return [
        `cannot use ${file}: ${detail}`,
        'check that its directory exists, is writable and is on a local disk',
      ];
  }
}
