// What the documents tell people to type works as written.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runSluice, temporaryFolder } from './rig/cli.ts';
import { startUp, until } from './rig/up.ts';

const LIMIT = { timeout: 30_000 };
const ROOT = fileURLToPath(new URL('..', import.meta.url));

function commandsIn(file: string): string[] {
  const blocks = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, block]) => block!.trim().split('\n'));
}

function workflowsIn(file: string): string[] {
  const blocks = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)];
  return blocks.map(([, block]) => block!).filter((block) => /^stages:/m.test(block));
}

test(
  'README sets up with one command, drops a file with the next, and tests with the last',
  LIMIT,
  async () => {
    const [first, drop, tests, ...others] = commandsIn('README.md');
    expect(others).toEqual([]);
    expect(tests).toBe('npm ci && npm test');
    expect(first).toMatch(/^npm ci && npm run build && node bin\/sluice\.js up \S+$/);
    const cwd = temporaryFolder();
    cpSync(join(ROOT, 'examples'), join(cwd, 'examples'), { recursive: true });
    const report = join(cwd, 'examples/word-count/report.txt');
    await startUp(cwd, first!.split(' ').at(-1)!);
    await until(() => existsSync(report));
    const [program, ...args] = drop!.split(' ');
    execFileSync(program!, args, { cwd });
    await until(() => readFileSync(report, 'utf8').includes('mill'));
  },
);

test('the guide can be followed from its first line to its last', async () => {
  const cwd = temporaryFolder();
  for (const line of commandsIn('docs/guide.md')) {
    const [program, ...args] = line.split(' ');
    expect(program).toBe('sluice');
    expect(await runSluice(args, { cwd })).toMatchObject({ code: 0 });
  }
});

test.each(['README.md', 'docs/guide.md'])('the workflows shown in %s are valid', async (file) => {
  for (const workflow of workflowsIn(file)) {
    const cwd = temporaryFolder({ 'p.yaml': workflow });
    expect(await runSluice(['validate', 'p.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  }
});
