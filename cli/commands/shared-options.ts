// Options that several commands have, with one meaning.

import type { Option } from '../command.ts';

export const JSON_OPTION: Option = { type: 'boolean', summary: 'Report as one JSON document on stdout' };

export const SECRETS: Option = {
  type: 'string',
  value: 'F',
  summary: 'The file with secrets as NAME=value lines (or SLUICE_SECRETS); else from the environment',
};

export const POOL: Option = {
  type: 'string',
  value: 'NAME=N',
  multiple: true,
  summary: 'So many slots of a pool, which stages ask for by resources.slots',
};

export const REACH: Readonly<Record<string, Option>> = {
  api: { type: 'string', value: 'URL', summary: 'The control plane; without it, the one of this project' },
  'token-file': {
    type: 'string',
    value: 'F',
    summary: 'The file with the token for --api (or SLUICE_TOKEN)',
  },
  db: {
    type: 'string',
    value: 'URL',
    summary: 'Open this database here: a file, or the URL of sqld or Turso',
  },
};
