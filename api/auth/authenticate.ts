// From a bearer token to the caller who holds it.

import type { TokenRow } from '../../schema/tables/tokens.ts';
import type { Caller, Parts, Scope } from '../parts.ts';
import { DatabaseError } from '../store/database.ts';
import { findToken } from '../store/find-token.ts';
import { TOUCH_EVERY_MS, touchToken } from '../store/touch-token.ts';
import { hashToken, isToken } from './token.ts';
import { TokenCache } from './token-cache.ts';
import { unauthorized } from './unauthorized.ts';

export interface Identity {
  readonly caller: Caller;
  /** Names of tokens may repeat; this does not. */
  readonly key: string;
}

export interface Authenticator {
  authenticate(token: string): Promise<Identity>;
  forget(): void;
}

type Needs = Pick<Parts, 'db' | 'hash' | 'nowMs'>;

/** `beforeAsking` may throw to spare the database a question about a token that was never valid here. */
export function createAuthenticator(parts: Needs, beforeAsking: () => void): Authenticator {
  const cache = new TokenCache(parts.nowMs);

  async function lookUp(token: string): Promise<TokenRow | undefined> {
    const hash = hashToken(parts.hash, token);
    const key = String.fromCharCode(...hash);
    const known = cache.get(key);
    if (known !== undefined) return known.kind === 'found' ? known.row : undefined;
    if (!cache.hasSeen(key)) beforeAsking();
    const { generation } = cache;
    const row = await findToken(parts.db, hash);
    cache.put(key, row, generation);
    return row;
  }

  async function noteUse(row: TokenRow): Promise<void> {
    const nowMs = parts.nowMs();
    if (nowMs - (row.last_used_at ?? 0) < TOUCH_EVERY_MS) return;
    // In the cached row and before the write, so that of many requests at once only one makes it.
    row.last_used_at = nowMs;
    try {
      await touchToken(parts.db, row.id, nowMs);
    } catch (error) {
      // A full disk stops writing; it need not stop anybody from asking for the status.
      if (!(error instanceof DatabaseError)) throw error;
    }
  }

  return {
    authenticate: async (token) => {
      const row = isToken(token) ? await lookUp(token) : undefined;
      if (row === undefined) throw unauthorized('unknown-token');
      if (row.revoked_at !== null) throw unauthorized('revoked-token');
      if (row.expires_at !== null && row.expires_at <= parts.nowMs()) throw unauthorized('expired-token');
      await noteUse(row);
      return { caller: callerOf(row), key: `token ${row.id}` };
    },
    forget: () => cache.clear(),
  };
}

function callerOf({ name, scopes, workflow, target }: TokenRow): Caller {
  return { kind: 'token', name, scopes: scopes.split(' ') as Scope[], workflow, target };
}
