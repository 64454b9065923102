// Who may come in from the network: tells the caller by token or Access, and stops whoever asks too often.

import { Problem } from '../http/problem.ts';
import type { Guard, Parts } from '../parts.ts';
import { ACCESS_HEADER, createAccessVerifier } from './access.ts';
import { createAuthenticator, type Identity } from './authenticate.ts';
import { RateLimit } from './rate-limit.ts';
import { unauthorized } from './unauthorized.ts';

/** All who prove nothing share one bucket: an address costs them nothing, so it says nothing. */
const STRANGERS = 'strangers';

type Needs = Pick<Parts, 'db' | 'hash' | 'nowMs' | 'access' | 'rate'>;

export function createGuard(parts: Needs): Guard {
  const callers = new RateLimit(parts.rate, parts.nowMs);
  const strangers = new RateLimit(parts.rate, parts.nowMs);
  const tokens = createAuthenticator(parts, () => strangers.check(STRANGERS));
  const verifyAccess = parts.access === null ? null : createAccessVerifier(parts.access, parts.nowMs);

  /** A token comes first: a machine that passes Access has both. */
  async function identify(headers: Headers): Promise<Identity> {
    const authorization = headers.get('Authorization');
    if (authorization !== null) return tokens.authenticate(bearerOf(authorization));
    const assertion = headers.get(ACCESS_HEADER);
    if (assertion === null || verifyAccess === null) throw unauthorized('no-credential');
    return verifyAccess(assertion);
  }

  return {
    admit: async (request) => {
      const identity = await identify(request.headers).catch((error: unknown) => {
        if (isRefusal(error)) strangers.take(STRANGERS);
        throw error;
      });
      callers.take(identity.key);
      return identity.caller;
    },
    forget: () => tokens.forget(),
  };
}

/** Not a database or a key server that is out of reach. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && (error.status === 401 || error.status === 403);
}

function bearerOf(authorization: string): string {
  const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? [];
  if (token === undefined) throw unauthorized('not-bearer');
  return token;
}
