// The database behind a URL (sqld or Turso), by HTTP; runs in Node and in workerd.
//
// Measured against sqld on loopback: 620 batches of one update per second one after the other, 300 of 50.

import { type Client, createClient, LibsqlBatchError, LibsqlError, type ResultSet } from '@libsql/client/web';
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
  type Statement,
  type Value,
} from './database.ts';

export interface RemoteOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** How long to wait for an answer; without a limit a silent server would hold a request for ever. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

export function openRemote(options: RemoteOptions): Database {
  const { place, token } = locate(options);
  const timeoutMs = options.timeoutMs ?? 30_000;
  const send = options.fetch ?? globalThis.fetch;
  const client = createClient({
    url: place,
    authToken: token,
    intMode: 'number',
    // The library's own limit is 20, and it takes 0 for that: the 21st would wait for a promise of another request,
    // and workerd ends a request that does as hung.
    concurrency: Number.MAX_SAFE_INTEGER,
    fetch: (request: Request) => send(request, { signal: AbortSignal.timeout(timeoutMs) }),
  });
  return new RemoteDatabase(client, place, new Turnstile(timeoutMs));
}

class RemoteDatabase implements Database {
  readonly stats = { statements: 0, batches: 0 };
  readonly #client: Client;
  readonly #place: string;
  readonly #turnstile: Turnstile;
  readonly #known = new Map<string, Inspected>();

  constructor(client: Client, place: string, turnstile: Turnstile) {
    this.#client = client;
    this.#place = place;
    this.#turnstile = turnstile;
  }

  async batch(statements: readonly Statement[], mode: BatchMode): Promise<readonly Rows[]> {
    const bound = bind(statements, mode, this.#known);
    if (this.#client.closed) bug('used after close', this.#place);
    this.stats.batches += 1;
    this.stats.statements += bound.length;
    const results = await this.#send(bound, mode);
    return results.map((result, index) => plainRows(result, bound[index]!.sql));
  }

  async #send(bound: readonly Bound[], mode: BatchMode): Promise<readonly ResultSet[]> {
    const leave = mode === 'write' ? await this.#turnstile.enter() : null;
    try {
      return await this.#client.batch(bound as { sql: string; args: Value[] }[], mode);
    } catch (error) {
      throw explain(this.#place, { error, bound, mode });
    } finally {
      leave?.();
    }
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

/**
 * Lets one write through at a time, in the order they came. sqld 0.24 does not: with eight runners it answered
 * "database is locked" after 5 s, and now and then never again. Who waits is woken, and also looks by itself: in workerd
 * the request that should wake it may have been cancelled.
 */
class Turnstile {
  readonly #mostMs: number;
  readonly #queue: Visit[] = [];

  constructor(mostMs: number) {
    this.#mostMs = mostMs;
  }

  async enter(): Promise<() => void> {
    const visit: Visit = { until: Number.POSITIVE_INFINITY, wake: () => {} };
    while (this.#first(visit) !== visit) {
      visit.until = performance.now() + GONE_AFTER_MS;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_EVERY_MS);
        visit.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    visit.until = performance.now() + this.#mostMs;
    return () => this.#leave(visit);
  }

  /** Forgets those that neither look nor leave: a request that is cancelled in workerd just stops. */
  #first(asking: Visit): Visit {
    const now = performance.now();
    while (this.#queue.length > 0 && this.#queue[0]!.until < now) this.#queue.shift();
    if (!this.#queue.includes(asking)) this.#queue.push(asking);
    return this.#queue[0]!;
  }

  #leave(visit: Visit): void {
    const place = this.#queue.indexOf(visit);
    if (place >= 0) this.#queue.splice(place, 1);
    this.#queue[0]?.wake();
  }
}

interface Visit {
  /** When it counts as gone, unless it looks again. */
  until: number;
  wake: () => void;
}

const LOOK_EVERY_MS = 50;
const GONE_AFTER_MS = 1_000;

/** Takes a token out of the URL, so that the URL may be shown in any message. */
function locate(options: RemoteOptions): { readonly place: string; readonly token: string | undefined } {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (url === undefined || !['http:', 'https:', 'libsql:'].includes(url.protocol)) {
    throw new DatabaseError({
      code: 'database-unusable',
      message: 'the URL of the database does not begin with http:, https: or libsql:',
      hint: 'give a URL such as https://db.example.com',
    });
  }
  const place = `${url.protocol}//${url.host}${url.pathname}`;
  const token = options.token ?? url.searchParams.get('authToken') ?? undefined;
  // fetch would quote such a token in its complaint about the header.
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return { place, token };
  throw new DatabaseError({
    code: 'database-refused',
    message: `the token for ${place} is empty or has characters that no token has`,
    hint: 'copy it again, without spaces or line breaks',
  });
}

/** Rows come with hidden numbered properties; ours are plain objects. */
function plainRows(result: ResultSet, text: string): Rows {
  checkColumns(result.columns, text);
  return {
    rows: result.rows.map((row) => {
      const plain: Record<string, Value | ArrayBuffer> = {};
      for (const [index, name] of result.columns.entries()) plain[name] = row[index] as Value | ArrayBuffer;
      return plainRow(plain);
    }),
  };
}

interface Failure {
  readonly error: unknown;
  readonly bound: readonly Bound[];
  readonly mode: BatchMode;
}

function explain(place: string, { error, bound, mode }: Failure): Error {
  const code = error instanceof LibsqlError ? error.code : '';
  const cause = error instanceof LibsqlError && error.cause instanceof Error ? error.cause : error;
  const detail = (cause instanceof Error ? cause.message : String(cause)).replace(/^SQLite error: /, '');
  const status = cause instanceof Error && 'status' in cause ? Number(cause.status) : undefined;
  if (status === 401 || status === 403 || code === 'BLOCKED') return refused(place, detail, error);
  const fault = faultOf(code);
  if (fault === 'database-constraint') {
    return new DatabaseError({
      code: fault,
      message: detail,
      hint: 'look at what is stored under that key',
      cause: error,
    });
  }
  if (fault !== undefined) return troubled(fault, `${place}: ${detail}`, error);
  if (/^(SQL|ARGS)/.test(code) || error instanceof RangeError) {
    const index = error instanceof LibsqlBatchError ? error.statementIndex : 0;
    return new DatabaseBug(`${detail}: ${excerpt(bound[index]?.sql ?? '')}`, { cause: error });
  }
  return unreached(place, { error, mode, status });
}

function refused(place: string, detail: string, cause: unknown): DatabaseError {
  return new DatabaseError({
    code: 'database-refused',
    message: `${place} refused the token: ${detail}`,
    hint: 'set LIBSQL_TOKEN to a token that may read and write this database',
    cause,
  });
}

function troubled(code: DatabaseFault, message: string, cause: unknown): DatabaseError {
  const hint = code === 'database-busy' ? 'try again' : 'look at the log of the database server';
  return new DatabaseError({ code, message, hint, cause });
}

interface Silence {
  readonly error: unknown;
  readonly mode: BatchMode;
  readonly status: number | undefined;
}

function unreached(place: string, { error, mode, status }: Silence): DatabaseError {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = root instanceof Error ? root.message : String(root);
  const isUnsent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(reason);
  return new DatabaseError({
    code: 'database-unreachable',
    message: `no answer from ${place}: ${reason}`,
    hint: 'check the URL and that the database server runs',
    cause: error,
    inDoubt: mode === 'write' && !isUnsent && (status === undefined || status >= 500),
  });
}
