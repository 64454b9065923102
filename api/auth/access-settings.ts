// Cloudflare Access as it is configured by variables, alike for the Worker and for the Node server.

import type { AccessSettings } from '../parts.ts';

export interface AccessEnv {
  readonly ACCESS_TEAM_DOMAIN?: string | undefined;
  readonly ACCESS_AUDIENCE?: string | undefined;
  /** `any`, or e-mail addresses separated by commas. */
  readonly ACCESS_READERS?: string | undefined;
  readonly ACCESS_ADMINS?: string | undefined;
}

/** Null unless both the team and the audience are given. */
export function accessSettings(env: AccessEnv): AccessSettings | null {
  if (!env.ACCESS_TEAM_DOMAIN || !env.ACCESS_AUDIENCE) return null;
  const list = (text: string | undefined) => (text ?? '').split(/[\s,]+/).filter((each) => each !== '');
  return {
    teamDomain: env.ACCESS_TEAM_DOMAIN,
    audience: env.ACCESS_AUDIENCE,
    readers: env.ACCESS_READERS === 'any' ? 'any' : list(env.ACCESS_READERS),
    admins: list(env.ACCESS_ADMINS),
  };
}
