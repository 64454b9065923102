// kill -9 of the runner, of its watchdog, and pids that have come to mean another process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Group, openJournal, unendedIn } from '../../runner/journal.ts';
import { endLeftovers } from '../../runner/leftovers.ts';
import { factsOf } from '../../runner/platform.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { openPipe, type Pipe } from '../runner/command-rig.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUNNER = join(ROOT, `node_modules/.cache/sluice-faults/runner-${process.pid}.mjs`);

beforeAll(async () => {
  await build({
    entryPoints: [join(ROOT, 'test/faults/execute-runner.ts')],
    outfile: RUNNER,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});

afterAll(() => rmSync(RUNNER, { force: true }));

interface Scene {
  readonly workDir: string;
  readonly journal: string;
  /** Held open by a child and a grandchild of the command, both deaf to SIGTERM. */
  readonly pipe: Pipe;
  readonly runner: ChildProcess;
}

function startRunner(mode: 'reused' | 'single' | 'die-first'): Scene {
  const folder = temporaryFolder();
  const workDir = join(folder, 'work');
  const journal = join(folder, '.sluice', 'journal');
  mkdirSync(workDir);
  const pipe = openPipe(join(folder, 'held'));
  const deaf = `trap '' TERM; while :; do sleep 60; done`;
  const script = `exec 9>'${pipe.path}'\n: > ran\n(sh -c "${deaf}" & ${deaf}) &\necho up >&9\nwait\n`;
  writeFileSync(join(workDir, '.command.sh'), script);
  const runner = spawn(process.execPath, [RUNNER, workDir, journal, mode], { stdio: 'ignore' });
  onTestFinished(() => void runner.kill('SIGKILL'));
  return { workDir, journal, pipe, runner };
}

async function kill(runner: ChildProcess): Promise<void> {
  const gone = once(runner, 'exit');
  runner.kill('SIGKILL');
  await gone;
}

function watchdogOf({ pid }: ChildProcess): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const isWatchdog = (child: number) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('sluice-watchdog');
  return children.find(isWatchdog)!;
}

describe.each(['reused', 'single'] as const)('a runner killed at once (%s slots)', (mode) => {
  test('takes its command with all descendants along', async () => {
    const { pipe, runner } = startRunner(mode);
    await pipe.line();
    await kill(runner);
    await pipe.closed;
  });

  test('leaves a journal by which the next owner ends what even the watchdog could not', async () => {
    const { pipe, runner, journal, workDir } = startRunner(mode);
    await pipe.line();
    process.kill(watchdogOf(runner), 'SIGKILL');
    await kill(runner);
    const [group] = unendedIn(journal);
    expect(group).toMatchObject({ workDir, startTime: expect.stringMatching(/^\d+$/) });
    expect(await endLeftovers(journal)).toEqual([{ group, fate: 'ended' }]);
    await pipe.closed;
    expect(await endLeftovers(journal)).toEqual([]);
  });
});

test('a runner killed after it journalled a command and before it let it go has started nothing', async () => {
  const { runner, journal, workDir } = startRunner('die-first');
  await once(runner, 'exit');
  const [group] = unendedIn(journal);
  await vi.waitFor(() => expect(factsOf(group!.id)?.isZombie ?? true).toBe(true));
  expect(existsSync(join(workDir, 'ran'))).toBe(false);
  expect(readdirSync(workDir)).toEqual(['.command.sh']);
});

describe('a journalled group', () => {
  /** A process in a group of its own, ready when it has said so. */
  async function startGroup(script: string, workDir: string): Promise<ChildProcess> {
    const child = spawn('sh', ['-c', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, SLUICE_WORK_DIR: workDir },
    });
    onTestFinished(() => endQuietly(child.pid!));
    await once(child.stdout!, 'data');
    return child;
  }

  function endQuietly(group: number): void {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // Already gone.
    }
  }

  function journalOf(group: Group): string {
    const file = join(temporaryFolder(), 'journal');
    const journal = openJournal(file);
    journal.started(group);
    journal.close();
    return file;
  }

  const FOREVER = 'echo up; while :; do sleep 60; done';

  test('is ended if its leader is the process that was journalled', async () => {
    const { pid: id = 0 } = await startGroup(FOREVER, '/w');
    const group = { id, startTime: factsOf(id)!.startTime, workDir: '/w' };
    expect(await endLeftovers(journalOf(group))).toEqual([{ group, fate: 'ended' }]);
  });

  test('is left alone if its pid now belongs to another process', async () => {
    const child = await startGroup(FOREVER, '/w');
    const id = child.pid!;
    const group = { id, startTime: String(Number(factsOf(id)!.startTime) - 1), workDir: '/w' };
    expect(await endLeftovers(journalOf(group))).toEqual([{ group, fate: 'recycled' }]);
    expect(factsOf(id)).toMatchObject({ isZombie: false });
  });

  test.each([
    ['is ended if its members carry its mark', '/w', 'ended'],
    ['is left alone if its members carry another', '/other', 'recycled'],
  ])('without a leader %s', async (_title, theirs, fate) => {
    // The member keeps the pipe open, so that only the leader's exit is waited for.
    const child = await startGroup(`(${FOREVER}) & read -r _ < /dev/null; exit 0`, theirs);
    if (child.exitCode === null) await once(child, 'exit');
    const closed = once(child, 'close');
    const group = { id: child.pid!, startTime: '1', workDir: '/w' };
    expect(await endLeftovers(journalOf(group))).toEqual([{ group, fate }]);
    if (fate === 'recycled') endQuietly(group.id);
    await closed;
  });

  test('is left alone if the system could not tell when it started', async () => {
    const { pid: id = 0 } = await startGroup(FOREVER, '/w');
    const group = { id, startTime: null, workDir: '/w' };
    expect(await endLeftovers(journalOf(group))).toEqual([{ group, fate: 'unknown' }]);
    expect(factsOf(id)).toMatchObject({ isZombie: false });
  });

  test('that has ended by itself is gone', async () => {
    const child = await startGroup('echo up', '/w');
    if (child.exitCode === null) await once(child, 'exit');
    const group = { id: child.pid!, startTime: '1', workDir: '/w' };
    expect(await endLeftovers(journalOf(group))).toEqual([{ group, fate: 'gone' }]);
  });
});
