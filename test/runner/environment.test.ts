import { expect, test } from 'vitest';
import { commandEnvironment } from '../../runner/environment.ts';

const parts = {
  host: {},
  stage: {},
  secrets: {},
  root: '/p',
  workDir: '/w',
  workflow: 'flow',
  stageId: 'align',
  entity: 'a/b',
  attempt: '17',
};
const OURS = {
  TERM: 'dumb',
  TMPDIR: '/w',
  SLUICE_ROOT: '/p',
  SLUICE_WORK_DIR: '/w',
  SLUICE_WORKFLOW: 'flow',
  SLUICE_STAGE: 'align',
  SLUICE_ENTITY: 'a/b',
  SLUICE_ATTEMPT: '17',
};

test('keeps of the host only what says who and where we are', () => {
  const kept = {
    PATH: '/bin',
    HOME: '/h',
    USER: 'u',
    LOGNAME: 'u',
    SHELL: '/bin/sh',
    LANG: 'C',
    LC_ALL: 'C',
    TZ: 'UTC',
  };
  const dropped = {
    AWS_SECRET_ACCESS_KEY: 's',
    NODE_OPTIONS: '--x',
    LD_PRELOAD: 'x',
    TERM: 'xterm',
    TMPDIR: '/t',
    XPATH: '',
  };
  expect(
    commandEnvironment({ ...parts, host: { ...kept, ...dropped, TZ: 'UTC', LC_CTYPE: undefined } }),
  ).toEqual({
    ...kept,
    ...OURS,
  });
});

test('lets a stage and its secrets replace anything but our own names', () => {
  const stage = { PATH: '/opt', TMPDIR: '/fast', KEY: 'plain', SLUICE_WORK_DIR: '/elsewhere' };
  const secrets = { KEY: 'secret', SLUICE_ATTEMPT: '0' };
  expect(commandEnvironment({ ...parts, host: { PATH: '/bin' }, stage, secrets })).toEqual({
    ...OURS,
    PATH: '/opt',
    TMPDIR: '/fast',
    KEY: 'secret',
  });
});
