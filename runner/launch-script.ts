// The shell code that starts a command in a child of the shell that reads it: its files, directory, environment, then
// itself.
//
// It travels through a pipe and not through a file, because the environment may hold secrets.

import { join } from 'node:path';

export type Command =
  | { readonly kind: 'shell'; readonly script: string }
  | { readonly kind: 'program'; readonly program: string; readonly args: readonly string[] };

export interface Launch {
  /** A program by its absolute path. */
  readonly command: Command;
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
  readonly hasStdin: boolean;
  /** What it says is not to be read by anybody before secrets were taken out of it. */
  readonly isHidden?: boolean;
  /** By its absolute path: what shell commands are run with. */
  readonly sh: string;
}

/** What a command leaves in its work directory. */
export const FILES = {
  script: '.command.sh',
  stdin: '.stdin',
  stdout: '.stdout',
  stderr: '.stderr',
  exitCode: '.exitcode',
} as const;

/** Readable only by the runner, and gone as soon as secrets were taken out of them. */
export const RAW = { stdout: '.stdout.raw', stderr: '.stderr.raw' } as const;

/** The shell writes reports about itself here; commands do not see it. */
export const REPORT_FD = 3;
export const UNSTARTED = 'unstarted';

export function launchScript({ command, cwd, env, workDir, hasStdin, isHidden, sh }: Launch): string {
  const { stdout, stderr } = isHidden ? RAW : FILES;
  const at = (name: string) => quoted(join(workDir, name));
  const lines = [
    `trap 'echo ${UNSTARTED} >&${REPORT_FD}' EXIT`,
    `exec <${hasStdin ? at(FILES.stdin) : '/dev/null'} >${at(stdout)} 2>${at(stderr)}`,
    `cd ${quoted(cwd)} || exit`,
    'unset OLDPWD',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    'trap - EXIT',
    `exec ${REPORT_FD}>&-`,
    // A shell of its own also for shell commands: in a forked one `$$` would be the pid of the slot.
    command.kind === 'shell' ? `exec ${quoted(sh)} -e ${at(FILES.script)}` : `exec ${programOf(command)}`,
  ];
  return `(\n${lines.join('\n')}\n)\n`;
}

function programOf({ program, args }: Extract<Command, { kind: 'program' }>): string {
  return [program, ...args].map(quoted).join(' ');
}

/** Why the command cannot be written down for a shell, or null if it can. */
export function unusableIn(command: Command, env: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `'${name}' is not a name for an environment variable`;
    if (value.includes('\0')) return `the environment variable ${name} contains a NUL`;
  }
  const hasNul = command.kind === 'program' && command.args.some((arg) => arg.includes('\0'));
  return hasNul ? 'an argument contains a NUL' : null;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
