// What the documents tell people to type works as written.

import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runSluice, temporaryFolder } from './rig/cli.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function commandsIn(file: string): string[] {
  const blocks = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, block]) => block!.trim().split('\n'));
}

function workflowsIn(file: string): string[] {
  const blocks = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)];
  return blocks.map(([, block]) => block!).filter((block) => /^stages:/m.test(block));
}

test('README has exactly two set-up commands, and what they call of ours succeeds', async () => {
  const [first, second, ...others] = commandsIn('README.md');
  expect(others).toEqual([]);
  expect(second).toBe('npm ci && npm test');
  expect(first).toMatch(/^npm ci && npm run build && node bin\/sluice\.js /);
  const cwd = temporaryFolder();
  cpSync(join(ROOT, 'examples'), join(cwd, 'examples'), { recursive: true });
  const examples = readdirSync(join(cwd, 'examples'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `examples/${name}`);
  for (const part of first!.split(' && ').filter((part) => part.startsWith('node bin/'))) {
    const args = part.split(' ').slice(2);
    const expanded = args.flatMap((arg) => (arg === 'examples/*.yaml' ? examples : [arg]));
    expect(await runSluice(expanded, { cwd })).toMatchObject({ code: 0 });
  }
});

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
