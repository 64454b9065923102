// Real commands through real shells: how they end, what they see, what they leave.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../runner/execute.ts';
import { logTail } from '../../runner/log-tail.ts';
import { findProgram } from '../../runner/platform.ts';

import { findShells, type Shells } from '../../runner/supervisor.ts';
import { commandRig } from './command-rig.ts';

const found = findShells();
/** As systems have it whose `sh` is bash: by its name it knows to behave. */
const bash = linkTo(findProgram('bash', '/', process.env.PATH));
const variants: [string, Shells][] = [
  ['shells that serve many', found],
  ['shells that serve one each', { ...found, tellsOthers: false }],
  ...(bash === null ? [] : ([['bash as sh', { ...found, sh: bash }]] as [string, Shells][])),
];

/** Ignores SIGTERM, tells its pid through the pipe and holds it open. */
const stubborn = (pipe: string) =>
  `(trap '' TERM; exec 9>'${pipe}'; sh -c 'echo $PPID' >&9; while :; do sleep 60; done)`;

function linkTo(bash: string | null): string | null {
  if (bash === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sh-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  symlinkSync(bash, join(folder, 'sh'));
  return join(folder, 'sh');
}

function exitCodeOf(outcome: Outcome): number {
  if (outcome.kind !== 'exited') throw new Error(`expected an exit, got ${JSON.stringify(outcome)}`);
  return outcome.exitCode;
}

describe.each(variants)('a command run by %s', (_name, shells) => {
  test.each([0, 1, 3, 126, 127, 255])('that exits with %i says so', async (code) => {
    const rig = commandRig(shells);
    const outcome = await rig.run(`exit ${code}`);
    expect(outcome).toEqual({
      kind: 'exited',
      exitCode: code,
      signal: null,
      seconds: expect.any(Number),
      leftBehind: false,
    });
    expect(rig.left('.exitcode')).toBe(`${code}\n`);
  });

  test.each(['SIGTERM', 'SIGKILL', 'SIGINT'] as const)(
    'that dies of %s has its name and 128 + N',
    async (signal) => {
      const rig = commandRig(shells);
      const outcome = await rig.run(`kill -s ${signal.slice(3)} $$`);
      expect(outcome).toMatchObject({ kind: 'exited', exitCode: 128 + constants.signals[signal], signal });
    },
  );

  test('runs in a process group that is neither ours nor that of one beside it', async () => {
    const rig = commandRig(shells);
    const tellGroup = (name: string) =>
      rig.run('cut -d" " -f5 /proc/self/stat', { workDir: join(rig.folder, name) });
    await Promise.all([tellGroup('one'), tellGroup('two')]);
    const groups = ['one', 'two'].map((name) => Number(rig.left(join('..', name, '.stdout'))));
    expect(groups[0]).not.toBe(groups[1]);
    expect(groups.every((group) => group > 1 && group !== process.pid)).toBe(true);
  });

  test('leaves its script and what it said, and no empty files', async () => {
    const rig = commandRig(shells);
    await rig.run('echo out\n');
    expect([rig.left('.command.sh'), rig.left('.stdout'), rig.left('.stderr')]).toEqual([
      'echo out\n',
      'out\n',
      null,
    ]);
    await rig.run('echo err >&2');
    expect([rig.left('.stdout'), rig.left('.stderr')]).toEqual([null, 'err\n']);
  });

  test('stops at the first line that fails', async () => {
    const rig = commandRig(shells);
    expect(exitCodeOf(await rig.run('echo one\nfalse\necho two'))).toBe(1);
    expect(rig.left('.stdout')).toBe('one\n');
  });

  test('with a syntax error fails and says where', async () => {
    const rig = commandRig(shells);
    expect(exitCodeOf(await rig.run('echo "'))).not.toBe(0);
    expect(rig.left('.stderr')).toContain('.command.sh');
  });

  test('may say a lot', async () => {
    const rig = commandRig(shells);
    expect(exitCodeOf(await rig.run('head -c 30000000 /dev/zero; echo end >&2'))).toBe(0);
    expect(statSync(join(rig.workDir, '.stdout')).size).toBe(30_000_000);
    expect(logTail(rig.workDir, 100)).toEqual({ stdout: '\0'.repeat(100), stderr: 'end\n' });
  });

  test('reads what it is given, and nothing if it is given nothing', async () => {
    const rig = commandRig(shells);
    await rig.run('read -r first; echo "$first"; cat', { stdin: 'a\nb\nc' });
    expect(rig.left('.stdout')).toBe('a\nb\nc');
    await rig.run('cat; echo end');
    expect(rig.left('.stdout')).toBe('end\n');
  });

  test('gets any argument and any value of a variable as it is', async () => {
    const rig = commandRig(shells);
    const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0') && s.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1 }), text, async (args, value) => {
        const env = { PATH: process.env.PATH!, VALUE: value };
        const script = 'printf "%s\\0" "$VALUE" "$@"';
        await rig.run({ kind: 'program', program: 'sh', args: ['-c', script, 'sh', ...args] }, { env });
        expect(rig.left('.stdout')).toBe([value, ...args, ''].join('\0'));
      }),
      { numRuns: 30 },
    );
  });

  test('sees the given environment and no other', async () => {
    const rig = commandRig(shells);
    const env = { PATH: process.env.PATH!, A: "it's\n$(x)" };
    await rig.run({ kind: 'program', program: 'env', args: ['-0'] }, { env });
    const seen = rig
      .left('.stdout')!
      .split('\0')
      .filter((entry) => !/^(PWD|SHLVL|_)=|^$/.test(entry));
    expect(seen.sort()).toEqual([`A=${env.A}`, `PATH=${env.PATH}`]);
  });

  test('inherits no descriptors of ours', async () => {
    const rig = commandRig(shells);
    await rig.run({ kind: 'program', program: 'ls', args: ['/proc/self/fd'] });
    // Beyond the usual three: the directory that is being listed, and what we ourselves were started with.
    const ordinary = execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' });
    expect(rig.left('.stdout')).toBe(ordinary);
  });

  test('is killed with its grandchildren when its time is up, even those that ignore SIGTERM', async () => {
    const rig = commandRig(shells);
    const pipe = rig.pipe('held');
    const outcome = await rig.run(`${stubborn(pipe.path)} & wait`, { timeoutMs: 1_000, graceMs: 50 });
    expect(outcome).toMatchObject({ kind: 'timeout', exitCode: 143, signal: 'SIGTERM' });
    await pipe.closed;
  });

  test('has its grace to tidy up, and is not waited for longer than it takes', async () => {
    const rig = commandRig(shells);
    const pipe = rig.pipe('ready');
    const controller = new AbortController();
    // It speaks when its child is a program of its own: a signal between fork and exec would be lost.
    const child = `sh -c "echo > '${pipe.path}'; exec sleep 60"`;
    const script = `trap 'echo tidy; exit 7' TERM\n${child} & wait`;
    const outcome = rig.run(script, { signal: controller.signal, graceMs: 600_000 });
    await pipe.line();
    controller.abort();
    expect(await outcome).toEqual({ kind: 'cancelled' });
    expect([rig.left('.stdout'), rig.left('.exitcode')]).toEqual(['tidy\n', '143\n']);
  });

  test('is ended by a cancel, with its grandchildren', async () => {
    const rig = commandRig(shells);
    const pipe = rig.pipe('held');
    const controller = new AbortController();
    const outcome = rig.run(`${stubborn(pipe.path)} & wait`, { signal: controller.signal, graceMs: 0 });
    await pipe.line();
    controller.abort();
    expect(await outcome).toEqual({ kind: 'cancelled' });
    await pipe.closed;
  });

  test('that is cancelled while it is being started does not run, now or later, in 200 tries', async () => {
    const rig = commandRig(shells);
    for (let i = 0; i < 200; i++) {
      const stop = new AbortController();
      const outcome = rig.run(`echo x > ran-${i}`, { signal: stop.signal });
      stop.abort();
      expect(await outcome).toEqual({ kind: 'cancelled' });
    }
    // What was left in a pipe would be read by now.
    expect(exitCodeOf(await rig.run('true'))).toBe(0);
    expect(readdirSync(rig.folder).filter((name) => name.startsWith('ran'))).toEqual([]);
  });

  test('that is cancelled at any moment does nothing more once that is told', async () => {
    const rig = commandRig(shells);
    const ran = () => readdirSync(rig.folder).filter((name) => name.startsWith('ran'));
    for (let i = 0; i < 80; i++) {
      const stop = new AbortController();
      const outcome = rig.run(`echo x > ran-${i}`, { signal: stop.signal });
      for (let turn = 0; turn < i % 20; turn++) await new Promise(setImmediate);
      stop.abort();
      await outcome;
      const before = ran();
      expect(exitCodeOf(await rig.run('true'))).toBe(0);
      expect(ran()).toEqual(before);
    }
  });

  test('takes what it left running with it when it ends', async () => {
    const rig = commandRig(shells);
    const pipe = rig.pipe('held');
    const ready = join(rig.folder, 'ready');
    const child = `(exec 9>'${pipe.path}'; echo up >&9; echo > '${ready}'; while :; do sleep 60; done)`;
    const outcome = await rig.run(`mkfifo '${ready}'; ${child} & read -r _ < '${ready}'`, { graceMs: 0 });
    expect(outcome).toMatchObject({ kind: 'exited', exitCode: 0, leftBehind: true });
    await pipe.closed;
  });

  test('may kill its own group without harm to the next command', async () => {
    const rig = commandRig(shells);
    expect(await rig.run('kill -s TERM 0')).toMatchObject({ kind: 'exited', signal: 'SIGTERM' });
    expect(exitCodeOf(await rig.run('true'))).toBe(0);
  });

  test('that kills its parent counts as killed, and the next command runs', async () => {
    const rig = commandRig(shells);
    const outcome = await rig.run('kill -s KILL $PPID; while :; do sleep 60; done', { graceMs: 0 });
    expect(outcome).toMatchObject({ kind: 'exited', exitCode: 137, signal: 'SIGKILL', leftBehind: true });
    expect(exitCodeOf(await rig.run('true'))).toBe(0);
  });

  test('cannot start with a variable that the shell refuses, and says why', async () => {
    const rig = commandRig(shells);
    // Read-only in bash alone.
    const outcome = await rig.run('true', { env: { PATH: process.env.PATH!, BASHOPTS: 'x' } });
    expect(outcome).toMatchObject(
      shells.sh === bash ? { kind: 'unstartable' } : { kind: 'exited', exitCode: 0 },
    );
  });
});

describe('a slot', () => {
  test('is used again for the next command', async () => {
    const rig = commandRig({ ...found });
    await rig.run('echo $PPID');
    const first = rig.left('.stdout');
    await rig.run('echo $PPID');
    expect(rig.left('.stdout')).toBe(first);
  });

  test('of its own serves each of many commands at once', async () => {
    const rig = commandRig();
    const codes = Array.from({ length: 40 }, (_, i) => i);
    const run = (code: number) => rig.run(`exit ${code}`, { workDir: join(rig.folder, `w${code}`) });
    const outcomes = await Promise.all(codes.map(run));
    expect(outcomes.map(exitCodeOf)).toEqual(codes);
  });
});

describe('a command that cannot start', () => {
  test.each<[string, Parameters<ReturnType<typeof commandRig>['run']>, string]>([
    ['in a missing directory', ['true', { cwd: '/no/such/dir' }], '/no/such/dir'],
    ['in a file', ['true', { cwd: '/etc/passwd' }], '/etc/passwd is not a directory'],
    [
      'with a missing program',
      [{ kind: 'program', program: 'no-such-program', args: [] }],
      "no program 'no-such-program' in PATH",
    ],
    ['with a program without a name', [{ kind: 'program', program: '', args: [] }], "no program '' in PATH"],
    [
      'with a file that is not executable',
      [{ kind: 'program', program: '/etc/passwd', args: [] }],
      '/etc/passwd is not an executable file',
    ],
    ['with a NUL in an argument', [{ kind: 'program', program: 'true', args: ['a\0'] }], 'NUL'],
    ['with a NUL in a variable', ['true', { env: { A: '\0' } }], 'A contains a NUL'],
    ['with a variable that is no name', ['true', { env: { 'a;reboot': '1' } }], "'a;reboot' is not a name"],
    ['without a place to work', ['true', { workDir: '/dev/null/w' }], '/dev/null/w'],
  ])('%s says why', async (_title, args, reason) => {
    expect(await commandRig().run(...args)).toEqual({
      kind: 'unstartable',
      reason: expect.stringContaining(reason),
    });
  });

  test('because nobody wants it any more leaves nothing', async () => {
    const rig = commandRig();
    expect(await rig.run('true', { signal: AbortSignal.abort() })).toEqual({ kind: 'cancelled' });
    expect(existsSync(rig.workDir)).toBe(false);
  });

  test('because there is no shell says so', async () => {
    const rig = commandRig({ sh: '/no/such/sh', tellsOthers: true });
    expect(await rig.run('true')).toEqual({
      kind: 'unstartable',
      reason: expect.stringContaining('no shell'),
    });
  });
});

test('a relative program is found from the directory of the command', async () => {
  const rig = commandRig();
  writeFileSync(join(rig.folder, 'tool'), '#!/bin/sh\nprintf "%s," "$@"\n');
  chmodSync(join(rig.folder, 'tool'), 0o755);
  expect(exitCodeOf(await rig.run({ kind: 'program', program: './tool', args: ['-n', "it's"] }))).toBe(0);
  expect(rig.left('.stdout')).toBe("-n,it's,");
});

test('a time limit of months does not fire at once', async () => {
  const rig = commandRig();
  const pipe = rig.pipe('ready');
  const outcome = rig.run(`mkfifo go; echo > '${pipe.path}'; read -r _ < go`, { timeoutMs: 2 ** 40 });
  await pipe.line();
  await writeFile(join(rig.folder, 'go'), 'go\n');
  expect(exitCodeOf(await outcome)).toBe(0);
});

test('a command that removes its work directory still has its exit code', async () => {
  const rig = commandRig();
  expect(exitCodeOf(await rig.run(`rm -rf '${rig.workDir}'; exit 4`))).toBe(4);
});

test('the tail of a log begins with a whole character', async () => {
  const rig = commandRig();
  await rig.run("printf 'aéé'");
  expect(logTail(rig.workDir, 3)).toEqual({ stdout: 'é', stderr: '' });
});
