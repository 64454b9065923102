// The commands of those who keep Sluice running on several machines: part of the table in commands.ts.

import type { Command } from '../command.ts';
import { JSON_OPTION, REACH } from './shared-options.ts';

export const OPERATING: readonly Command[] = [
  {
    name: 'up',
    summary: 'Keep workflows fresh here: drop files and their results are made, until Ctrl-C',
    positionals: [{ name: 'DIR|FILE', required: false, repeated: true }],
    options: {
      port: { type: 'string', short: 'p', value: 'N', summary: 'The port; 8484 is the default' },
      host: { type: 'string', value: 'ADDRESS', summary: 'The address; 127.0.0.1 is the default' },
      jobs: { type: 'string', short: 'j', value: 'N', summary: 'At most N commands at once' },
    },
    load: () => import('../up.ts'),
  },
  {
    name: 'watch',
    summary: 'Look at the files of this machine for a control plane elsewhere, until it is stopped',
    positionals: [],
    options: {
      api: { type: 'string', value: 'URL', summary: 'The control plane' },
      'token-file': REACH['token-file']!,
      target: { type: 'string', value: 'T', summary: 'Which machine this is; local is the default' },
      root: {
        type: 'string',
        value: '[WORKFLOW=]DIR',
        multiple: true,
        summary:
          'Where a workflow has its files here, or all that have no other; where it was registered is the default',
      },
      state: {
        type: 'string',
        value: 'DIR',
        summary: 'Where it keeps what it has told; ~/.local/state/sluice/… is the default',
      },
      name: { type: 'string', value: 'NAME', summary: 'What it calls itself; HOST-TARGET is the default' },
    },
    load: () => import('../watch.ts'),
  },
  {
    name: 'push',
    summary: 'Register workflows on a control plane, all of them or none',
    positionals: [{ name: 'FILE', required: true, repeated: true }],
    options: {
      root: {
        type: 'string',
        value: 'DIR',
        summary: "Where their relative paths stand on the target; each file's own directory is the default",
      },
      target: {
        type: 'string',
        value: 'T',
        summary: 'The machine of stages that name none; local is the default',
      },
      set: { type: 'string', value: 'K=V', multiple: true, summary: 'Register with this value for a param' },
      json: JSON_OPTION,
      ...REACH,
    },
    load: () => import('../push.ts'),
  },
];
