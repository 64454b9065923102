// Sluice itself, as it is installed.

import { spawnSync } from 'node:child_process';
import { ANY, JOBS, links, type Peer, run, type Watching, write } from './peer.ts';

export function sluice(program: string): Peer {
  const command = (...args: string[]) => [process.execPath, program, ...args];
  return {
    ...{ name: 'sluice', role: 'ours', version: 'this checkout', upTo: {} },
    each: (folder) => writeEach(folder, []),
    chain: (folder) =>
      write(folder, 'p.yaml', [
        'stages:',
        ...links().flatMap(([from, to]) => [
          `  s${to}:`,
          '    cmd: cat {{deps[0].path}} > {{outs[0].path}}',
          `    deps: [link/${from}]`,
          `    outs: [link/${to}]`,
        ]),
      ]),
    command: () => command('run', 'p.yaml', '--jobs', String(JOBS)),
    state: ['.sluice', 'p.lock.yaml', 'p.events.jsonl'],
    adopt: command('lock', 'p.yaml'),
    watching: canWatch(program)
      ? [watching(command, 'sluice, settle 0', 0), watching(command, 'sluice', null)]
      : [],
  };
}

function writeEach(folder: string, head: readonly string[]): void {
  write(folder, 'p.yaml', [
    ...head,
    'stages:',
    '  copy_{name}:',
    '    cmd: cat {{deps[0].path}} > {{outs[0].path}}',
    '    deps: ["in/{name}"]',
    '    outs: ["out/{name}"]',
  ]);
}

const DEFAULT_SETTLE_MS = 500;

function watching(command: (...args: string[]) => string[], name: string, settle: number | null): Watching {
  return {
    ...{ name, upTo: ANY, settleMs: settle ?? DEFAULT_SETTLE_MS },
    prepare: (folder) => {
      writeEach(folder, settle === null ? [] : [`watch: {settle: ${settle}}`]);
      run(command('lock', 'p.yaml'), folder);
    },
    command: command('up', 'p.yaml', '--port', '0'),
    ready: 'watching',
  };
}

function canWatch(program: string): boolean {
  return spawnSync(process.execPath, [program, 'up', '--help'], { stdio: 'ignore' }).status === 0;
}
