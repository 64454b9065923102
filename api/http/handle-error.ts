// What an error that left a route becomes: a problem the caller can act on, and nothing of our insides.

import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { AppEnv } from '../parts.ts';
import { DatabaseError, type DatabaseFault } from '../store/database.ts';
import type { Incident } from './incident.ts';
import { Problem, problemResponse } from './problem.ts';

export interface ErrorHandling {
  /** Gets every error that is not the caller's mistake. */
  readonly report: (error: unknown, incident: Incident) => void;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** For `app.onError`. */
export function handleError(handling: ErrorHandling): (error: Error, c: Context<AppEnv>) => Response {
  return (error, c) => {
    if (error instanceof Problem) return problemResponse(error);
    if (error instanceof HTTPException && error.status < 500) return problemResponse(refused(error));
    const id = incidentId(handling.randomBytes);
    handling.report(error, { id, method: c.req.method, path: c.req.path });
    return problemResponse(problemOf(error, id, isKnown(c)));
  };
}

function problemOf(error: Error, incident: string, isKnownCaller: boolean): Problem {
  if (!(error instanceof DatabaseError)) return ourBug(error, incident);
  if (error.code === 'database-constraint') return collision(error, incident);
  const mayKnow = isKnownCaller || NAMES_NO_PLACE.includes(error.code);
  return new Problem({
    status: 503,
    code: error.code,
    // Both sentences usually name the place of the database, which is no stranger's business.
    message: mayKnow ? error.message : 'the database cannot be used at the moment',
    hint: mayKnow ? error.hint : 'try again later, or ask whoever runs this server',
    extra: { incident, in_doubt: error.inDoubt },
    headers: { 'Retry-After': String(RETRY_AFTER_S[error.code] ?? 30) },
    cause: error,
  });
}

/** Before a database is migrated nobody can prove who he is, and whoever deployed must hear what to do. */
const NAMES_NO_PLACE: readonly DatabaseFault[] = ['database-older', 'database-newer'];

const RETRY_AFTER_S: Partial<Record<DatabaseFault, number>> = {
  'database-busy': 1,
  'database-unreachable': 5,
};

/** Two requests that made one thing at once; any other constraint only a wrong statement can break. */
function collision(error: DatabaseError, incident: string): Problem {
  if (!/UNIQUE|PRIMARY KEY/.test(error.message)) return ourBug(error, incident);
  return new Problem({
    status: 409,
    code: 'conflict',
    message: 'another request stored the same thing at the same time; nothing was changed by this one',
    hint: 'look at what is stored now, then send the request again if it is still needed',
    extra: { incident },
    cause: error,
  });
}

function ourBug(error: Error, incident: string): Problem {
  return new Problem({
    status: 500,
    code: 'internal',
    message: 'the server failed on this request',
    hint: `look for incident ${incident} in the log of the server`,
    extra: { incident },
    cause: error,
  });
}

function refused(error: HTTPException): Problem {
  return new Problem({
    status: error.status,
    code: 'refused',
    message: error.message || `the request was refused with status ${error.status}`,
    hint: 'compare the request with /api/openapi.json',
    cause: error,
  });
}

function isKnown(c: Context<AppEnv>): boolean {
  return (c.get('caller') as unknown) !== undefined;
}

function incidentId(randomBytes: ErrorHandling['randomBytes']): string {
  return Array.from(randomBytes(8), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
