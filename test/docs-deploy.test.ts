// What the page on deploying tells to type on the project's own database works in the order it stands there.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { COMMANDS } from '../cli/commands.ts';
import { runSluice, temporaryFolder } from './rig/cli.ts';

const page = readFileSync(fileURLToPath(new URL('../docs/deploy.md', import.meta.url)), 'utf8');
const lines = [...page.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block]) => block!.trim().split('\n'))
  .filter((line) => line.startsWith('sluice '))
  .map((line) => line.split(' ').slice(1));

test('every command is one that there is, with options that it has', () => {
  for (const [name, ...args] of lines) {
    const command = COMMANDS.find((each) => each.name === name);
    const options = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2));
    expect(Object.keys(command?.options ?? {})).toEqual(expect.arrayContaining(options));
  }
});

test('tokens can be made, listed and revoked, and the database copied', async () => {
  const cwd = temporaryFolder({ '.sluice/.keep': '' });
  const daemons = ['serve', 'work', 'watch'];
  const local = lines.filter(
    ([name, ...args]) => !daemons.includes(name!) && !args.includes('--db') && !args.includes('--api'),
  );
  expect(local.length).toBeGreaterThan(5);
  for (const args of local) expect(await runSluice(args, { cwd })).toMatchObject({ code: 0 });
});
