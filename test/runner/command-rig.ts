// Runs real commands in a temporary folder, and waits for processes by the pipes that they hold open.

import { execFileSync } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { type ExecuteRequest, execute, type Outcome } from '../../runner/execute.ts';
import { openJournal } from '../../runner/journal.ts';
import type { Command } from '../../runner/launch-script.ts';

import { createSupervisor, type Shells } from '../../runner/supervisor.ts';
import { temporaryFolder } from '../rig/cli.ts';

export interface CommandRig {
  readonly folder: string;
  readonly workDir: string;
  readonly journal: string;
  run(command: string | Command, options?: Partial<ExecuteRequest>): Promise<Outcome>;
  /** What is in a file of the work directory, or null if there is none. */
  left(name: string): string | null;
  pipe(name: string): Pipe;
}

export interface Pipe {
  readonly path: string;
  /** The next line that somebody writes into it. */
  line(): Promise<string>;
  /** Once nobody holds it any more. */
  closed: Promise<void>;
}

export function commandRig(shells?: Shells): CommandRig {
  const folder = temporaryFolder();
  const workDir = join(folder, 'work');
  const journalFile = join(folder, '.sluice', 'journal');
  const journal = openJournal(journalFile);
  const supervisor = createSupervisor(journal, shells);
  onTestFinished(async () => {
    await supervisor.close();
    journal.close();
  });
  return {
    folder,
    workDir,
    journal: journalFile,
    run: (command, options = {}) =>
      execute({
        supervisor,
        command: typeof command === 'string' ? { kind: 'shell', script: command } : command,
        cwd: folder,
        env: { PATH: process.env.PATH!, SLUICE_WORK_DIR: workDir },
        workDir,
        timeoutMs: 0,
        ...options,
      }),
    left: (name) => readOrNull(join(workDir, name)),
    pipe: (name) => openPipe(join(folder, name)),
  };
}

/** Opening waits for a writer, so it happens beside the test. */
export function openPipe(path: string): Pipe {
  execFileSync('mkfifo', [path]);
  const lines = createInterface({ input: createReadStream(path) });
  const iterator = lines[Symbol.asyncIterator]();
  const closed = new Promise<void>((resolve) => lines.once('close', resolve));
  const line = async () => {
    const { value, done } = await iterator.next();
    if (done) throw new Error(`${path} was closed without a line`);
    return value;
  };
  return { path, line, closed };
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
