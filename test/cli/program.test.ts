// The program as a process: how it builds itself from a checkout, and how it behaves in a pipe.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runProgram, runSluice, temporaryFolder } from '../rig/cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VERSION = /^\d+\.\d+\.\d+\S*\n$/;
const BUILDING = 'sluice: dist/ is not up to date with the sources, building\n';

/** A checkout whose commands are made up, so that these tests are about the frame only. */
function checkout(): { root: string; program: string } {
  const root = temporaryFolder();
  for (const path of [
    'bin',
    'tools',
    'build.mjs',
    'package.json',
    'schema/diagnostic.ts',
    'cli/render/output.ts',
  ]) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  }
  for (const file of ['main', 'arguments', 'command', 'help']) {
    cpSync(join(ROOT, `cli/${file}.ts`), join(root, `cli/${file}.ts`));
  }
  writeFileSync(join(root, 'cli/commands.ts'), TABLE);
  writeFileSync(join(root, 'cli/flood.ts'), floodOf('x'));
  mkdirSync(join(root, 'api'));
  writeFileSync(join(root, 'api/worker.ts'), 'export default {};\n');
  mkdirSync(join(root, 'host'));
  writeFileSync(join(root, 'host/clean-rest.ts'), 'export {};\n');
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, program: join(root, 'bin/sluice.js') };
}

const TABLE = `import type { Command } from './command.ts';
export const COMMANDS: readonly Command[] = [
  { name: 'flood', summary: 'Flood', positionals: [], options: {}, load: () => import('./flood.ts') },
];
`;

function floodOf(letter: string): string {
  return `import type { Invocation } from './command.ts';
export async function run({ io }: Invocation): Promise<0> {
  for (let i = 0; i < 4000; i++) io.stdout.write('${letter}'.repeat(999) + '\\n');
  return 0;
}
`;
}

it('runs from this checkout', async () => {
  const { code, stdout, stderr } = await runSluice(['--version']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(VERSION);
});

describe('in a checkout', () => {
  it('builds itself on the first run, with one line on stderr, and not on the second', async () => {
    const { program } = checkout();
    const first = await runProgram(program, ['--version']);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(VERSION), stderr: BUILDING });
    expect(await runProgram(program, ['--version'])).toEqual({ ...first, stderr: '' });
  });

  it('builds again after a source was changed, added or removed', async () => {
    const { root, program } = checkout();
    await runProgram(program, ['--version']);
    writeFileSync(join(root, 'cli/flood.ts'), floodOf('y'));
    const changed = await runProgram(program, ['flood']);
    expect([changed.stderr, changed.stdout[0]]).toEqual([BUILDING, 'y']);
    writeFileSync(join(root, 'schema/more.ts'), '');
    expect((await runProgram(program, ['--version'])).stderr).toBe(BUILDING);
    rmSync(join(root, 'schema/more.ts'));
    expect((await runProgram(program, ['--version'])).stderr).toBe(BUILDING);
    expect((await runProgram(program, ['--version'])).stderr).toBe('');
  });

  it('keeps the chunks of the build before, for programs still running on it, and sweeps older ones', async () => {
    const { root, program } = checkout();
    const chunksAfter = async (letter: string) => {
      writeFileSync(join(root, 'cli/flood.ts'), floodOf(letter));
      await runProgram(program, ['--version']);
      return readdirSync(join(root, 'dist/chunks'));
    };
    const first = await chunksAfter('1');
    const second = await chunksAfter('2');
    const third = await chunksAfter('3');
    expect(second).toEqual(expect.arrayContaining(first));
    expect([first.length, second.length, third.length]).toEqual([1, 2, 2]);
    expect(third).not.toEqual(expect.arrayContaining(first));
    const made = ['build.json', 'chunks', 'clean-rest.js', 'sluice.js', 'worker'];
    expect(readdirSync(join(root, 'dist')).sort()).toEqual(made);
  });

  it('survives first runs at the same time, also when a builder died holding the lock', async () => {
    const { root, program } = checkout();
    const dead = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], {
      encoding: 'utf8',
    }).stdout.trim();
    const lock = join(root, 'dist/build.lock');
    mkdirSync(join(root, 'dist'));
    writeFileSync(lock, dead);
    const runs = await Promise.all(Array.from({ length: 4 }, () => runProgram(program, ['flood'])));
    for (const { code, stdout } of runs) expect([code, stdout.length]).toEqual([0, 4_000_000]);
    expect(existsSync(lock)).toBe(false);
  });

  it('says what is wrong with the sources instead of running an old build', async () => {
    const { root, program } = checkout();
    await runProgram(program, ['--version']);
    writeFileSync(join(root, 'cli/flood.ts'), 'export const = 1;');
    const { code, stdout, stderr } = await runProgram(program, ['--version']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/could not build: [\s\S]*cli\/flood\.ts:1:13[\s\S]*→ mend the sources/);
  });

  it('says how to build where esbuild is not installed', async () => {
    const { root, program } = checkout();
    rmSync(join(root, 'node_modules'));
    const { code, stderr } = await runProgram(program, ['--version']);
    expect(code).toBe(1);
    expect(stderr).toContain(`→ run 'npm ci && npm run build' in ${root}`);
  });
});

it('runs without sources and without esbuild, as an installed package does', async () => {
  const { root, program } = checkout();
  await runProgram(program, ['--version']);
  for (const path of ['cli', 'schema', 'tools', 'build.mjs', 'node_modules']) {
    rmSync(join(root, path), { recursive: true });
  }
  expect(await runProgram(program, ['--version'])).toMatchObject({ code: 0, stderr: '' });
  expect((await runProgram(program, ['flood'])).stdout.length).toBe(4_000_000);
});

describe('in a pipe', () => {
  const shell = (program: string, script: string) =>
    spawnSync('bash', ['-c', script], { env: { ...process.env, SLUICE: program }, encoding: 'utf8' });

  it('delivers everything to a slow reader and exits quietly when the reader goes away', async () => {
    const { program } = checkout();
    await runProgram(program, ['--version']);
    expect(shell(program, 'node $SLUICE flood | (read; wc -c)').stdout.trim()).toBe('3999000');
    const gone = shell(program, 'node $SLUICE flood | head -1 | wc -c; echo ${PIPESTATUS[0]}');
    expect([gone.stdout.trim(), gone.stderr]).toEqual(['1000\n141', '']);
  });

  it.skipIf(!existsSync('/dev/full'))('says so when its output cannot be written', async () => {
    const { program } = checkout();
    await runProgram(program, ['--version']);
    const { status, stderr } = shell(program, 'node $SLUICE flood > /dev/full');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^sluice: the output could not be written: ENOSPC/);
    expect(stderr).not.toContain('    at ');
  });
});
