import { expect, test } from 'vitest';
import { accessSettings } from '../../../api/auth/access-settings.ts';

const TEAM = { ACCESS_TEAM_DOMAIN: 'acme.cloudflareaccess.com', ACCESS_AUDIENCE: 'aud' };

test('Access is off unless both the team and the audience are named', () => {
  expect(accessSettings({})).toBeNull();
  expect(accessSettings({ ...TEAM, ACCESS_AUDIENCE: '' })).toBeNull();
});

test('nobody reads or administers who is not named', () => {
  expect(accessSettings(TEAM)).toMatchObject({ readers: [], admins: [] });
});

test('readers are anybody or a list, admins a list', () => {
  const env = { ...TEAM, ACCESS_READERS: 'any', ACCESS_ADMINS: 'a@x.org, b@x.org' };
  expect(accessSettings(env)).toMatchObject({ readers: 'any', admins: ['a@x.org', 'b@x.org'] });
});
