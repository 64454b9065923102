// `sluice run` in a real pseudo-terminal, and in a pipe.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PROGRAM } from '../rig/cli.ts';
import { project } from '../rig/project.ts';

const SLOW = {
  'p.yaml': `stages:
  slow_{x}:
    cmd: sleep 0.3; cat {{deps[0].path}} > {{outs[0].path}}
    deps: ["in/{x}.txt"]
    outs: ["out/{x}.txt"]
`,
  'in/a.txt': 'a',
  'in/b.txt': 'b',
  'in/c.txt': 'c',
};

const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)('a person at a terminal sees how far it has come, and only the lines stay', () => {
  const { root } = project(SLOW);
  const env = { PATH: process.env.PATH, HOME: root, TERM: 'xterm' };
  const command = `'${process.execPath}' '${PROGRAM}' run p.yaml --jobs 1`;
  const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], {
    ...{ cwd: root, env, encoding: 'utf8' as const },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(status).toBe(0);
  expect(stdout).toMatch(/slow_\{x\} .*[━╌].* 1\/3/);
  expect(stdout).toMatch(/✓.* slow_b/);
  const last = stdout.slice(stdout.lastIndexOf('\x1b[J') + 3);
  expect(last).toMatch(/p: 3 run, 0 cached/);
  expect(last).not.toMatch(/[━╌]/);
});

test('in a pipe there are plain lines', async () => {
  const { sluice } = project(SLOW);
  const { stderr } = await sluice('run', 'p.yaml');
  expect(stderr).not.toMatch(/\x1b|[━╌]/);
  expect(stderr.trim().split('\n')).toHaveLength(3);
});
