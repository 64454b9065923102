// A project on disk with the real program in it: write files, run, and count which commands really ran.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSluice, temporaryFolder } from './cli.ts';

interface Report {
  readonly status: 'completed' | 'failed';
  readonly states_run: number;
  readonly states_cached: number;
  readonly states: readonly {
    stage: string;
    entity: string;
    status: string;
    reasons: string[];
    error?: string;
  }[];
}

/** Commands of its workflow say `echo NAME >> runs.log` to be counted. */
export function project(files: Readonly<Record<string, string>>) {
  const root = temporaryFolder(files);
  return {
    root,
    write: (name: string, content: string) => writeFileSync(join(root, name), content),
    read: (name: string) => readFileSync(join(root, name), 'utf8'),
    has: (name: string) => existsSync(join(root, name)),
    runs: (name: string) => logOf(root).filter((line) => line === name).length,
    sluice: (...args: string[]) => runSluice(args, { cwd: root }),
    async run(...args: string[]) {
      const { code, stdout, stderr } = await runSluice(['run', 'p.yaml', '--json', ...args], { cwd: root });
      if (stdout === '') throw new Error(`exit code ${code}\n${stderr}`);
      return { code, stderr, ...(JSON.parse(stdout) as Report) };
    },
  };
}

function logOf(root: string): string[] {
  const log = join(root, 'runs.log');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}
