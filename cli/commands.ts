// The table of commands, in the order the help lists them. Nothing here may import a command statically.

import type { Command, Option } from './command.ts';

const JSON_OPTION: Option = { type: 'boolean', summary: 'Report as one JSON document on stdout' };

export const COMMANDS: readonly Command[] = [
  {
    name: 'init',
    summary: 'Write a commented starter playbook',
    positionals: [{ name: 'FILE', required: false }],
    options: {},
    load: () => import('./init.ts'),
  },
  {
    name: 'run',
    summary: 'Make what is stale on this machine, and say why',
    positionals: [{ name: 'FILE', required: true }],
    options: {
      set: {
        type: 'string',
        value: 'K=V',
        multiple: true,
        summary: 'Use this value for a param, for this run',
      },
      force: { type: 'boolean', summary: 'Make everything, fresh or not' },
      jobs: { type: 'string', short: 'j', value: 'N', summary: 'At most N commands at once' },
      all: { type: 'boolean', summary: 'With --json: list cached states too' },
      json: JSON_OPTION,
    },
    load: () => import('./run.ts'),
  },
  {
    name: 'validate',
    summary: 'Check workflow files and tell everything that is wrong with them',
    positionals: [{ name: 'FILE', required: true, repeated: true }],
    options: { json: JSON_OPTION },
    load: () => import('./validate.ts'),
  },
  {
    name: 'visualize',
    summary: 'Draw the stages of a workflow and what flows between them',
    positionals: [{ name: 'FILE', required: true }],
    options: {
      format: {
        type: 'string',
        summary: 'How to draw it; tree is the default',
        choices: ['tree', 'svg', 'mermaid', 'dot'],
      },
      out: { type: 'string', short: 'o', value: 'F', summary: 'Write to this file instead of stdout' },
    },
    load: () => import('./visualize.ts'),
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a kind of file, for editors',
    positionals: [{ name: 'KIND', required: false, choices: ['playbook', 'pipeline', 'job', 'settings'] }],
    options: {},
    load: () => import('./schema.ts'),
  },
];
