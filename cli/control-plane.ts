// Reaches the control plane, wherever it is: by URL, in the process that owns `.sluice/`, or in this one.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../api/app.ts';
import { accessSettings } from '../api/auth/access-settings.ts';
import { DEFAULT_RATE } from '../api/auth/rate-limit.ts';
import { openDatabase } from '../api/open-database.ts';
import type { Caller, Parts } from '../api/parts.ts';
import { type Database, DatabaseError } from '../api/store/database.ts';
import { loadBlake3 } from '../host/blake3.ts';
import { type Client, createClient } from '../host/client.ts';
import { readOwnerNote, takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, EXIT, type Io, text, type Values } from './command.ts';

declare const SLUICE_VERSION: string;

export interface Reached {
  readonly client: Client;
  close(): Promise<void>;
}

/** `from` is where the project is looked for, upwards. */
export async function reach(values: Values, io: Io, from = io.cwd): Promise<Reached> {
  const api = apiUrl(values);
  if (api !== undefined) return { client: overNetwork(api, readToken(values, io)), close: async () => {} };
  const db = text(values, 'db');
  if (db !== undefined) return inProcess(await openOrExplain(db, io), io);
  const own = join(projectRootOf(from), '.sluice');
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner === null) return { client: reachOwner(own), close: async () => {} };
  const reached = inProcess(await openOrExplain(join(own, 'state.db'), io), io);
  return {
    client: reached.client,
    close: async () => {
      await reached.close();
      owner.release();
    },
  };
}

/** Without a slash at its end, because the routes begin with one. */
export function apiUrl(values: Values): string | undefined {
  const api = text(values, 'api');
  if (api === undefined) return undefined;
  if (/^https?:\/\//i.test(api) && URL.canParse(api)) return api.replace(/\/+$/, '');
  throw new CliError({
    code: 'bad-url',
    message: `--api '${shown(api)}' is not an http or https URL`,
    hint: 'write for example --api http://127.0.0.1:8484',
  });
}

export function createParts(db: Database, io: Io): Parts {
  return {
    db,
    hash: loadBlake3().hash,
    nowMs: Date.now,
    randomBytes,
    version: SLUICE_VERSION,
    access: accessSettings(io.env),
    rate: DEFAULT_RATE,
    report: (error, incident) => {
      // A disk that is full or a file that is damaged is nobody's bug, and where it was met says nothing.
      const isOurs = error instanceof Error && !(error instanceof DatabaseError);
      const told = isOurs ? (error.stack ?? error.message) : String(error);
      io.stderr.write(`${incident.id} ${incident.method} ${incident.path}: ${told}\n`);
    },
  };
}

export async function openOrExplain(url: string, io: Io): Promise<Database> {
  try {
    return await openDatabase({ url, token: io.env.LIBSQL_TOKEN }, Date.now());
  } catch (error) {
    throw error instanceof DatabaseError ? databaseTrouble(error) : error;
  }
}

export function databaseTrouble(error: DatabaseError): CliError {
  return new CliError({ code: error.code, message: error.message, hint: error.hint, cause: error });
}

export const THIS_PROCESS: Caller = {
  kind: 'process',
  name: 'this process',
  scopes: ['admin'],
  workflow: null,
  target: null,
};

export function inProcess(db: Database, io: Io): Reached {
  const parts = createParts(db, io);
  // Who asked is told, and is the only one there is.
  const report: Parts['report'] = (error, incident) => {
    if (!(error instanceof DatabaseError)) parts.report(error, incident);
  };
  return { client: clientOf(createApp({ ...parts, report })), close: () => db.close() };
}

/** Of an app in this process, which trusts it. */
export function clientOf(app: ReturnType<typeof createApp>): Client {
  const fetch = (input: string | URL | Request, init?: RequestInit) =>
    Promise.resolve(app.fetch(new Request(input, init), { trusted: THIS_PROCESS }));
  return createClient({ url: 'http://sluice.local', fetch });
}

/** The process that owns the project, by the note that it left. */
export function reachOwner(own: string): Client {
  const note = readOwnerNote(join(own, 'owner.json'));
  if (note?.url === undefined) {
    throw new CliError({
      code: 'owner-busy',
      message: 'another sluice is working here, and it has no address',
      hint: 'wait for it to end and try again',
      exitCode: EXIT.locked,
    });
  }
  return overNetwork(note.url, readFileSync(join(own, 'admin-token'), 'utf8').trim());
}

export function overNetwork(
  url: string,
  token: string | undefined,
  ask: typeof globalThis.fetch = globalThis.fetch,
): Client {
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    let answer: Response;
    try {
      answer = await ask(input, init);
    } catch (cause) {
      if (ask !== globalThis.fetch || init?.signal?.aborted) throw cause;
      throw new CliError({
        code: 'unreachable',
        message: `no answer from ${url}`,
        hint: 'check the URL and that `sluice serve` or `sluice up` runs there',
        cause,
      });
    }
    refuseStranger(answer, url);
    return answer;
  };
  return createClient({ url, token, fetch });
}

/** Whatever we ask for comes as JSON, refusals too; anything else is another program, or a proxy before ours. */
function refuseStranger(answer: Response, url: string): void {
  const type = answer.headers.get('Content-Type') ?? 'no content type';
  if (/json/i.test(type) || answer.status === 204 || answer.status === 304) return;
  throw new CliError({
    code: 'not-sluice',
    message: `what answers at ${url} is not a control plane of sluice (HTTP ${answer.status}, ${shown(type)})`,
    hint: `check the URL: it is what \`sluice serve\` says it is listening on, without a path; if a proxy stands before it, see the proxy's log`,
  });
}

export function readToken(values: Values, io: Io): string | undefined {
  const file = text(values, 'token-file');
  if (file === undefined) return io.env.SLUICE_TOKEN;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new CliError({
      code: 'no-token',
      message: `cannot read the token from ${file}`,
      hint: 'make one with `sluice token create` and keep it in a file that only you can read',
      cause,
    });
  }
}

export function ensureOwnFolder(project: string): string {
  const own = join(project, '.sluice');
  mkdirSync(own, { recursive: true });
  return own;
}
