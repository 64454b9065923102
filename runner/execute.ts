// Runs one command on this machine and tells how it ended, as a value.
//
// A shell command is kept as `.command.sh` and run as by `sh -e .command.sh`: a line that fails ends it, since
// what failed half-way must not count as done (`set +e` in the script turns that off). POSIX sh has no
// `pipefail`: of a pipeline only the last part counts. As in any shell, death by signal N is exit code 128 + N.

import { existsSync, mkdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { type Command, FILES, launchScript, RAW, unusableIn } from './launch-script.ts';
import { tailOf } from './log-tail.ts';
import type { Mask } from './mask.ts';
import { findProgram } from './platform.ts';
import type { SlotEnd } from './slot.ts';
import type { Running, Supervisor } from './supervisor.ts';

export interface ExecuteRequest {
  readonly supervisor: Supervisor;
  readonly command: Command;
  readonly cwd: string;
  /** The whole environment, as `commandEnvironment` makes it. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; made if it is not there. */
  readonly workDir: string;
  /** 0 is no limit. */
  readonly timeoutMs: number;
  /** From asking with SIGTERM to SIGKILL. */
  readonly graceMs?: number;
  readonly stdin?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Takes secrets out of what it leaves in the work directory. */
  readonly mask?: Mask | null;
}

export type Outcome =
  | ({ readonly kind: 'exited' | 'timeout' } & Ended)
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unstartable'; readonly reason: string };

export interface Ended {
  /** Above 128 after a signal. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly seconds: number;
  /** Processes of its group outlived it and were ended. */
  readonly leftBehind: boolean;
}

export const DEFAULT_GRACE_MS = 5_000;
/** What setTimeout can hold; beyond it, it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export async function execute(request: ExecuteRequest): Promise<Outcome> {
  if (request.signal?.aborted) return { kind: 'cancelled' };
  const prepared = prepare(request);
  if ('reason' in prepared) return { kind: 'unstartable', reason: prepared.reason };
  // What is called off in the same breath does not run: once it is on its way to a shell, nobody can promise that.
  await null;
  if (request.signal?.aborted) return { kind: 'cancelled' };
  const begun = performance.now();
  const running = request.supervisor.start(prepared.launch, request.workDir);
  if (running === null) return { kind: 'unstartable', reason: 'no shell could be started to run it' };
  const stopped = await attend(running, request);
  const end = await running.ended;
  const seconds = (performance.now() - begun) / 1_000;
  const leftBehind = await running.finish(request.graceMs ?? DEFAULT_GRACE_MS);
  return conclude({ request, end, stopped, seconds, leftBehind });
}

function prepare(request: ExecuteRequest): { readonly launch: string } | { readonly reason: string } {
  const { cwd, env, workDir, stdin, mask } = request;
  try {
    if (!statSync(cwd).isDirectory()) return { reason: `${cwd} is not a directory` };
    const command = located(request);
    const reason = command === null ? notFound(request.command) : unusableIn(command, env);
    if (command === null || reason !== null) return { reason: reason! };
    writeFiles(request);
    const { sh } = request.supervisor;
    const isHidden = mask != null;
    return {
      launch: launchScript({ command, cwd, env, workDir, hasStdin: stdin !== undefined, isHidden, sh }),
    };
  } catch (error) {
    // A directory that is missing or closed to us, a full disk: the message names the path.
    if (error instanceof Error && 'code' in error) return { reason: error.message };
    throw error;
  }
}

function located({ command, cwd, env }: ExecuteRequest): Command | null {
  if (command.kind === 'shell') return command;
  const program = findProgram(command.program, cwd, env.PATH);
  return program === null ? null : { ...command, program };
}

function notFound(command: Command): string {
  const name = command.kind === 'program' ? command.program : 'sh';
  return name.includes('/') ? `${name} is not an executable file` : `no program '${name}' in PATH`;
}

function writeFiles({ command, workDir, stdin, mask }: ExecuteRequest): void {
  if (!existsSync(workDir)) mkdirSync(workDir, { recursive: true });
  if (mask) for (const name of Object.values(RAW)) writeFileSync(join(workDir, name), '', { mode: 0o600 });
  if (command.kind === 'shell') writeFileSync(join(workDir, FILES.script), command.script);
  if (stdin !== undefined) writeFileSync(join(workDir, FILES.stdin), stdin, { mode: 0o600 });
}

type Stopped = 'timeout' | 'cancelled' | null;

/** Waits for the end, or brings it about when time is up or nobody wants it any more. */
async function attend(running: Running, request: ExecuteRequest): Promise<Stopped> {
  const { timeoutMs, graceMs = DEFAULT_GRACE_MS, signal } = request;
  let timer: NodeJS.Timeout | undefined;
  let cancel = () => {};
  const stop = new Promise<Stopped>((resolve) => {
    cancel = () => resolve('cancelled');
    if (timeoutMs > 0) timer = setTimeout(() => resolve('timeout'), Math.min(timeoutMs, LONGEST_TIMER_MS));
    signal?.addEventListener('abort', cancel);
  });
  const stopped = await Promise.race([running.ended.then(() => null), stop]);
  clearTimeout(timer);
  signal?.removeEventListener('abort', cancel);
  if (stopped !== null) await running.stop(graceMs);
  return stopped;
}

interface Facts {
  readonly request: ExecuteRequest;
  readonly end: SlotEnd;
  readonly stopped: Stopped;
  readonly seconds: number;
  readonly leftBehind: boolean;
}

function conclude({ request, end, stopped, seconds, leftBehind }: Facts): Outcome {
  const { workDir } = request;
  takeOutSecrets(request);
  // A shell that is killed while it sets the command up calls that unstarted, too.
  if (end.kind === 'unstarted' && stopped === null) {
    return {
      kind: 'unstartable',
      reason: tailOf(workDir, 'stderr', 1_000) || 'its files could not be opened',
    };
  }
  const exitCode = end.kind === 'exited' ? end.exitCode : 128 + constants.signals[signalBy(end)];
  keepResult(workDir, exitCode);
  if (stopped === 'cancelled') return { kind: 'cancelled' };
  return { kind: stopped ?? 'exited', exitCode, signal: signalOf(exitCode), seconds, leftBehind };
}

function takeOutSecrets({ workDir, mask, command }: ExecuteRequest): void {
  if (!mask || !existsSync(workDir)) return;
  for (const stream of ['stdout', 'stderr'] as const)
    mask.file(join(workDir, RAW[stream]), join(workDir, FILES[stream]));
  if (command.kind !== 'shell') return;
  const script = mask.text(command.script);
  if (script !== command.script) writeFileSync(join(workDir, FILES.script), script);
}

function signalBy(end: Exclude<SlotEnd, { kind: 'exited' }>): NodeJS.Signals {
  return end.kind === 'lost' ? end.signal : 'SIGTERM';
}

function keepResult(workDir: string, exitCode: number): void {
  // A command may have removed its own work directory.
  if (!existsSync(workDir)) return;
  for (const name of [FILES.stdout, FILES.stderr]) removeIfEmpty(join(workDir, name));
  writeFileSync(join(workDir, FILES.exitCode), `${exitCode}\n`);
}

function removeIfEmpty(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size === 0) unlinkSync(file);
}

function signalOf(exitCode: number): NodeJS.Signals | null {
  return SIGNALS.get(exitCode - 128) ?? null;
}

const SIGNALS = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);
