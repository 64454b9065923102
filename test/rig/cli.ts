// Runs the real program, `node bin/sluice.js …`, as a person would: own process, own directory, clean environment.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** A fresh temporary directory if left out. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** As another user, which only root can do. */
  readonly uid?: number | undefined;
}

export const PROGRAM = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

export async function runSluice(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the program could not be built:\n${failure}`);
  return runProgram(PROGRAM, args, options);
}

export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd = temporaryFolder(), env = {}, stdin = '', uid }: CliOptions = {},
): Promise<CliResult> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    // Nothing of the test runner's environment: it sets colours and CI as it likes.
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  // A program that does not read its stdin may be gone before all is written.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [code, stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

/** A directory with the given files in it, removed when the test ends. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}
