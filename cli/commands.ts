// The table of commands, in the order the help lists them. Nothing here may import a command statically.

import type { Command } from './command.ts';
import { OPERATING } from './commands/operating.ts';
import { JSON_OPTION, POOL, REACH, SECRETS } from './commands/shared-options.ts';

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
      stage: {
        type: 'string',
        value: 'S',
        summary: 'Only this stage, or this state of it, and the upstream that it needs',
      },
      force: {
        type: 'boolean',
        summary: 'Make everything, fresh or not; with --stage, it and its downstream',
      },
      'dry-run': { type: 'boolean', summary: 'Only show what would be made and why' },
      jobs: { type: 'string', short: 'j', value: 'N', summary: 'At most N commands at once' },
      pool: POOL,
      secrets: SECRETS,
      all: { type: 'boolean', summary: 'With --json: list cached states too' },
      json: JSON_OPTION,
    },
    load: () => import('./run-first.ts'),
  },
  {
    name: 'status',
    summary: 'Tell how every stage stands, and what is not settled and why',
    positionals: [{ name: 'FILE|NAME', required: false }],
    options: {
      stage: { type: 'string', value: 'S', summary: 'Only this stage, or this state of it' },
      json: JSON_OPTION,
      ...REACH,
    },
    load: () => import('./status.ts'),
  },
  {
    name: 'why',
    summary: 'Tell why a state is as it is, down to the file or param that changed',
    positionals: [
      { name: 'FILE|NAME', required: true },
      { name: 'STAGE[@ENTITY]', required: true },
    ],
    options: { json: JSON_OPTION, ...REACH },
    load: () => import('./why.ts'),
  },
  {
    name: 'log',
    summary: 'Tell what happened in the last run, or in all of them',
    positionals: [{ name: 'FILE|NAME', required: true }],
    options: {
      all: { type: 'boolean', summary: 'Every run in the log' },
      compact: { type: 'boolean', summary: 'Drop old runs from the log' },
      keep: {
        type: 'string',
        value: 'N',
        summary: 'With --compact: keep the newest N runs; 10 is the default',
      },
      json: JSON_OPTION,
      ...REACH,
    },
    load: () => import('./log.ts'),
  },
  {
    name: 'lock',
    summary: 'Take what is on disk into the lock file, running nothing; or compare the two',
    positionals: [{ name: 'FILE', required: true }],
    options: {
      verify: { type: 'boolean', summary: 'Only compare every output with its hash in the lock file' },
      json: JSON_OPTION,
    },
    load: () => import('./lock.ts'),
  },
  {
    name: 'debug',
    summary: 'Show the command of a state, how it ended, what it said, and how to run it by hand',
    positionals: [{ name: 'FILE', required: true }],
    options: {
      stage: { type: 'string', value: 'S', summary: 'The stage, or one state of it' },
      job: {
        type: 'string',
        value: 'J',
        summary: 'Which of its states: the entity, or the name of its file',
      },
      json: JSON_OPTION,
    },
    load: () => import('./debug.ts'),
  },
  {
    name: 'clean',
    summary: 'Remove the work directories of what is settled',
    positionals: [{ name: 'FILE', required: true }],
    options: {
      'keep-latest': { type: 'boolean', summary: 'Keep the newest of each stage' },
      json: JSON_OPTION,
    },
    load: () => import('./clean.ts'),
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
  {
    name: 'completion',
    summary: 'Print the script that lets a shell complete commands and options',
    positionals: [{ name: 'SHELL', required: true, choices: ['bash', 'zsh', 'fish'] }],
    options: {},
    load: async () => (await import('./completion.ts')).completionOf(COMMANDS),
  },
  {
    name: 'serve',
    summary: 'Run the control plane as a server',
    positionals: [],
    options: {
      port: { type: 'string', short: 'p', value: 'N', summary: 'The port; 8484 is the default' },
      host: { type: 'string', value: 'ADDRESS', summary: 'The address; 127.0.0.1 is the default' },
      db: { type: 'string', value: 'URL', summary: 'A file, or the URL of sqld or Turso' },
    },
    load: () => import('./serve.ts'),
  },
  {
    name: 'token',
    summary: 'Make, list and revoke tokens',
    positionals: [
      { name: 'ACTION', required: true, choices: ['create', 'list', 'revoke'] },
      { name: 'NAME|ID', required: false },
    ],
    options: {
      scope: {
        type: 'string',
        value: 'SCOPE',
        multiple: true,
        summary: 'What it may do (several may be given); read is the default',
        choices: ['read', 'watch', 'work', 'admin'],
      },
      workflow: { type: 'string', value: 'NAME', summary: 'Only this workflow' },
      target: { type: 'string', value: 'NAME', summary: 'Only this target' },
      expires: { type: 'string', value: 'TIME', summary: 'How long it is good for: 90d' },
      json: JSON_OPTION,
      ...REACH,
    },
    load: () => import('./token.ts'),
  },
  {
    name: 'rm',
    summary: 'Take a workflow off the control plane; its files stay',
    positionals: [{ name: 'NAME', required: true }],
    options: {
      'drop-history': { type: 'boolean', summary: 'Forget its attempts, events and definitions too' },
      ...REACH,
    },
    load: () => import('./rm.ts'),
  },
  {
    name: 'db',
    summary: 'Bring the database up to date, or copy it while in use',
    positionals: [
      { name: 'ACTION', required: true, choices: ['migrate', 'backup'] },
      { name: 'COPY', required: false },
    ],
    options: { db: REACH.db! },
    load: () => import('./db.ts'),
  },
  ...OPERATING,
];
