import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../cli/commands.ts';
import { runSluice, temporaryFolder } from '../rig/cli.ts';

const script = async (shell: string) => (await runSluice(['completion', shell])).stdout;

/** What bash would offer for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const cwd = temporaryFolder({ 'completion.bash': await script('bash') });
  const line = words.map((word) => `'${word}'`).join(' ');
  const ask = `source ./completion.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const told = execFileSync('bash', ['--norc', '-uc', ask], { cwd, encoding: 'utf8' });
  return told.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  test.each([
    ['a command', ['sluice', 'vi'], ['visualize']],
    ['an option', ['sluice', 'run', '--dr'], ['--dry-run']],
    ['an option after others', ['sluice', 'run', 'p.yaml', '--json', '--for'], ['--force']],
    ["an option's values", ['sluice', 'visualize', '--format', 'm'], ['mermaid']],
    ['the words a command takes', ['sluice', 'completion', 'z'], ['zsh']],
    ['a command after help', ['sluice', 'help', 'stat'], ['status']],
    ['no words where a file stands, so that bash offers files', ['sluice', 'run', 'p'], []],
    ['nothing for what is no command', ['sluice', 'nope', '--x'], []],
  ])('%s', async (_title, words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  test('knows every command', async () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(await offered('sluice', '')).toEqual([...names, 'help', '--help', '--version']);
  });

  test('is set up for the program by being sourced', async () => {
    const cwd = temporaryFolder({ 'completion.bash': await script('bash') });
    const told = execFileSync('bash', ['--norc', '-c', 'source ./completion.bash; complete -p sluice'], {
      cwd,
    });
    expect(told.toString()).toContain('-F _sluice sluice');
  });
});

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  test('names every command and every option', async () => {
    const text = await script(shell);
    for (const { name, options } of COMMANDS)
      for (const word of [name, ...Object.keys(options)]) expect(text).toContain(word);
  });

  test.skipIf(spawnSync(shell, ['-c', 'true']).status !== 0)(
    'is read by its shell without a complaint',
    async () => {
      const file = join(temporaryFolder({ script: await script(shell) }), 'script');
      expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    },
  );
});

test.each([
  [['completion'], 'completion needs SHELL'],
  [['completion', 'tcsh'], 'SHELL is one of bash, zsh, fish'],
])('%j is told with what there is', async (args, told) => {
  expect(await runSluice(args)).toMatchObject({ code: 1, stderr: expect.stringContaining(told) });
});
