// The commands of those who keep Sluice running on several machines: part of the table in commands.ts.

import type { Command } from '../command.ts';
import { JSON_OPTION, POOL, REACH, SECRETS } from './shared-options.ts';

export const OPERATING: readonly Command[] = [
  {
    name: 'up',
    summary: 'Keep workflows fresh here: drop files and their results are made, until Ctrl-C',
    positionals: [{ name: 'DIR|FILE', required: false, repeated: true }],
    options: {
      port: { type: 'string', short: 'p', value: 'N', summary: 'The port; 8484 is the default' },
      host: { type: 'string', value: 'ADDRESS', summary: 'The address; 127.0.0.1 is the default' },
      jobs: { type: 'string', short: 'j', value: 'N', summary: 'At most N commands at once' },
      pool: POOL,
      secrets: SECRETS,
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
    name: 'work',
    summary: 'Run on this machine what a control plane hands out for its target, until Ctrl-C',
    positionals: [],
    options: {
      api: { type: 'string', value: 'URL', summary: 'The control plane' },
      'token-file': {
        type: 'string',
        value: 'F',
        summary: 'The file with a token of the scope work (or SLUICE_TOKEN)',
      },
      target: { type: 'string', value: 'T', summary: 'What this machine is called; local is the default' },
      root: {
        type: 'string',
        value: '[WORKFLOW=]DIR',
        multiple: true,
        summary: 'Where the files of a workflow, or of all, are here, if not where they are registered',
      },
      cores: { type: 'string', value: 'N', summary: 'At most N cores; all is the default' },
      memory: { type: 'string', value: 'SIZE', summary: 'At most so much memory, such as 16G' },
      gpu: { type: 'string', value: 'N', summary: 'How many GPUs there are; 0 is the default' },
      pool: POOL,
      label: {
        type: 'string',
        value: 'K=V',
        multiple: true,
        summary: 'What this machine is or has, for targets that ask for labels',
      },
      allow: {
        type: 'string',
        value: 'NAME@HASH',
        multiple: true,
        summary: 'Run only this definition, as `sluice push` shows it; all of the control plane without it',
      },
      secrets: SECRETS,
      lease: {
        type: 'string',
        value: 'TIME',
        summary: 'How long the control plane may be away before what runs is ended; 2m is the default',
      },
      'http-deny-private': {
        type: 'boolean',
        summary: 'Refuse http nodes that want an address which is not public',
      },
    },
    load: () => import('../work.ts'),
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
  {
    name: 'retry',
    summary: 'Try again at once what failed: all of a workflow, a stage, or one state',
    positionals: [
      { name: 'FILE|NAME', required: true },
      { name: 'STAGE[@ENTITY]', required: false },
    ],
    options: { json: JSON_OPTION, ...REACH },
    load: () => import('../retry.ts'),
  },
  {
    name: 'invalidate',
    summary: 'Make a stage, or one state of it, stale although nothing changed',
    positionals: [
      { name: 'FILE|NAME', required: true },
      { name: 'STAGE[@ENTITY]', required: true },
    ],
    options: { json: JSON_OPTION, ...REACH },
    load: () => import('../invalidate.ts'),
  },
  {
    name: 'export',
    summary: 'Write what is known of every entity as JSON files: manifests, failures and an index',
    positionals: [
      { name: 'WHAT', required: true, choices: ['manifests'] },
      { name: 'FILE|NAME', required: false },
    ],
    options: {
      to: {
        type: 'string',
        value: 'DIR',
        summary: 'Where to; .sluice-manifests beside the file is the default',
      },
      json: JSON_OPTION,
      ...REACH,
    },
    load: () => import('../export.ts'),
  },
  {
    name: 'service',
    summary: 'Keep up, watch or work running by systemd, or print it for launchd',
    positionals: [
      { name: 'ACTION', required: true, choices: ['install', 'uninstall', 'status'] },
      { name: 'WHAT', required: false, choices: ['up', 'watch', 'work'] },
      { name: '-- ARG', required: false, repeated: true },
    ],
    options: {
      name: {
        type: 'string',
        value: 'NAME',
        summary: 'The name of the service; sluice-WHAT-DIRECTORY is the default',
      },
      print: { type: 'boolean', summary: 'Only print the unit' },
      launchd: { type: 'boolean', summary: 'Print a property list for launchd, as always on macOS' },
      json: JSON_OPTION,
    },
    load: async () => (await import('../service.ts')).serviceOf(OPERATING),
  },
  {
    name: 'doctor',
    summary: 'Check this machine, the project and a control plane, and say what to do',
    positionals: [{ name: 'DIR|FILE', required: false, repeated: true }],
    options: { json: JSON_OPTION, ...REACH },
    load: () => import('../doctor.ts'),
  },
];
