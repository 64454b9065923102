// What docs/cli.md and the README say of the command line is there, and what is there is said.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../cli/commands.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

test('every option that docs/cli.md names belongs to a command', () => {
  const known = new Set([...COMMANDS.flatMap(({ options }) => Object.keys(options)), 'help']);
  const named = [...read('docs/cli.md').matchAll(/--([a-z][a-z-]*)/g)].map(([, name]) => name!);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test.each([
  'status',
  'why',
  'log',
  'lock',
  'debug',
  'clean',
  'retry',
  'invalidate',
  'export',
  'service',
  'doctor',
  'completion',
])('%s is in docs/cli.md and in the table of the README', (name) => {
  expect(COMMANDS.map((command) => command.name)).toContain(name);
  expect(read('docs/cli.md')).toContain(`sluice ${name}`);
  expect(read('README.md')).toMatch(new RegExp(`^\\| \`.*\\b${name}\\b`, 'm'));
});
