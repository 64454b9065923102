// The 401 answers: which credential was missing or wrong, and what to do about it.

import { Problem } from '../http/problem.ts';

export type CredentialFault =
  | 'no-credential'
  | 'not-bearer'
  | 'unknown-token'
  | 'expired-token'
  | 'revoked-token'
  | 'bad-access-jwt'
  | 'expired-access-jwt';

const WORDS: Readonly<Record<CredentialFault, readonly [message: string, hint: string]>> = {
  'no-credential': ['no credential was sent', 'send the header Authorization: Bearer sluice_…'],
  'not-bearer': [
    'the Authorization header is not Bearer and one token',
    'send Authorization: Bearer sluice_…',
  ],
  'unknown-token': [
    'this server does not know the token',
    'check that it is whole and for this server, or have one made with sluice token create',
  ],
  'expired-token': ['the token has expired', 'have a new one made with sluice token create'],
  'revoked-token': ['the token was revoked', 'have a new one made with sluice token create'],
  'bad-access-jwt': [
    'the Cloudflare Access assertion does not hold for this server',
    'sign in again; if that does not help, check the team domain and the audience in the settings of the server',
  ],
  'expired-access-jwt': ['the Cloudflare Access session has expired', 'sign in again'],
};

export function unauthorized(code: CredentialFault, cause?: unknown): Problem {
  const [message, hint] = WORDS[code];
  const isMissing = code === 'no-credential';
  return new Problem({
    status: 401,
    code,
    message,
    hint,
    headers: {
      'WWW-Authenticate': isMissing
        ? 'Bearer realm="sluice"'
        : 'Bearer realm="sluice", error="invalid_token"',
    },
    cause,
  });
}
