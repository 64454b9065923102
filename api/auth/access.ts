// People behind Cloudflare Access: the signed assertion it adds to each request, and who that makes them.
//
// Only the header counts. The cookie of the same content reaches us from any page of any site.

import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose';
import { Problem } from '../http/problem.ts';
import type { AccessSettings, Scope } from '../parts.ts';
import type { Identity } from './authenticate.ts';
import { unauthorized } from './unauthorized.ts';

export const ACCESS_HEADER = 'Cf-Access-Jwt-Assertion';
/** How long keys that could not be fetched are not asked for again. */
const FETCH_PAUSE_MS = 5_000;

export type VerifyAccess = (assertion: string) => Promise<Identity>;

export function createAccessVerifier(settings: AccessSettings, nowMs: () => number): VerifyAccess {
  const issuer = `https://${settings.teamDomain}`;
  const keys = createRemoteJWKSet(new URL('/cdn-cgi/access/certs', issuer), {
    [customFetch]: patiently(settings.fetch ?? globalThis.fetch, nowMs),
  });
  return async (assertion) => {
    const payload = await verify(() =>
      jwtVerify(assertion, keys, {
        issuer,
        audience: settings.audience,
        algorithms: ['RS256'],
        requiredClaims: ['exp'],
        currentDate: new Date(nowMs()),
      }),
    );
    return identityOf(payload, settings);
  };
}

async function verify(check: () => Promise<{ readonly payload: JWTPayload }>): Promise<JWTPayload> {
  try {
    return (await check()).payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw unauthorized('expired-access-jwt', error);
    if (isAboutAssertion(error)) throw unauthorized('bad-access-jwt', error);
    throw unreachable(error);
  }
}

/** The rest is about fetching the keys, which is not the fault of whoever asks. */
function isAboutAssertion(error: unknown): boolean {
  const isAboutKeys =
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    (error instanceof errors.JOSEError && error.code === errors.JOSEError.code);
  return error instanceof errors.JOSEError && !isAboutKeys;
}

function identityOf(payload: JWTPayload, settings: AccessSettings): Identity {
  const email = typeof payload.email === 'string' ? payload.email.toLowerCase() : '';
  const scopes = scopesOf(email, settings);
  if (scopes.length === 0) throw notListed(email);
  const caller = { kind: 'access', name: email, scopes, workflow: null, target: null } as const;
  return { caller, key: `access ${email}` };
}

/** A machine's assertion has no address: it needs a token of ours besides. */
function scopesOf(email: string, { readers, admins }: AccessSettings): readonly Scope[] {
  const isIn = (list: readonly string[]) => list.some((entry) => entry.toLowerCase() === email);
  if (email === '') return [];
  if (isIn(admins)) return ['admin'];
  return readers === 'any' || isIn(readers) ? ['read'] : [];
}

function notListed(email: string): Problem {
  return new Problem({
    status: 403,
    code: 'access-not-listed',
    message: email === '' ? 'the Access assertion names no person' : `${email} is not among the readers`,
    hint: email === '' ? 'send a token as well' : 'ask whoever runs this server to add the address',
  });
}

/** Otherwise every request would try again while the keys are out of reach. */
function patiently(fetchKeys: typeof globalThis.fetch, nowMs: () => number): typeof globalThis.fetch {
  let failedAtMs = Number.NEGATIVE_INFINITY;
  return async (...request) => {
    if (nowMs() - failedAtMs < FETCH_PAUSE_MS) throw new Error('the keys could not be fetched a moment ago');
    try {
      const response = await fetchKeys(...request);
      if (!response.ok) failedAtMs = nowMs();
      return response;
    } catch (error) {
      failedAtMs = nowMs();
      throw error;
    }
  };
}

function unreachable(cause: unknown): Problem {
  return new Problem({
    status: 503,
    code: 'access-unreachable',
    message: 'the keys of Cloudflare Access cannot be fetched',
    hint: 'try again in a few seconds; if it stays so, check the team domain in the settings of the server',
    headers: { 'Retry-After': String(FETCH_PAUSE_MS / 1_000) },
    cause,
  });
}
