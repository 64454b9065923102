// What a command is: its entry in the table, what it is called with, and how it ends.

export const EXIT = {
  done: 0,
  /** The caller's mistake, or a run that failed. */
  failed: 1,
  invalid: 2,
  git: 3,
  /** A lock or lease could not be had. */
  locked: 4,
  /** Our own bug (EX_SOFTWARE of sysexits.h), so that scripts can tell it from a failed run. */
  bug: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Command {
  readonly name: string;
  /** One line, an instruction without a full stop: "Check workflow files". */
  readonly summary: string;
  readonly positionals: readonly Positional[];
  /** By long name; `--help` is added to every command. */
  readonly options: Readonly<Record<string, Option>>;
  /** Called only when the command runs, so that no command pays for another's imports. */
  readonly load: () => Promise<CommandModule>;
}

export interface Positional {
  /** As shown in the usage line: `FILE`. */
  readonly name: string;
  readonly required: boolean;
  /** Takes all that follow; only the last may. */
  readonly repeated?: boolean;
  readonly choices?: readonly string[];
}

export interface Option {
  readonly summary: string;
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  /** What stands for the value in the help: `FILE`. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** May be given several times; `values` then holds a list. */
  readonly multiple?: boolean;
}

export interface CommandModule {
  readonly run: (invocation: Invocation) => Promise<ExitCode>;
}

export interface Invocation {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
}

export type Values = Readonly<Record<string, boolean | string | readonly string[] | undefined>>;

/** The world as a command sees it; tests pass their own. */
export interface Io {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether a person looks at stdout. */
  readonly isTTY: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Stderr, if it is one: where progress may be painted. */
  readonly terminal?: Terminal;
}

/** Asked anew for every frame, because windows are resized. */
export interface Terminal extends Sink {
  readonly columns: number;
  readonly rows: number;
}

export interface Sink {
  write(text: string): unknown;
}

export interface CliErrorParts {
  /** Stable and kebab-case, as in a diagnostic. */
  readonly code: string;
  readonly message: string;
  /** What to do next, as an instruction. */
  readonly hint?: string;
  readonly exitCode?: ExitCode;
  readonly cause?: unknown;
}

/** A mistake that the caller can mend; anything else that is thrown counts as our bug. */
export class CliError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor({ code, message, hint, exitCode = EXIT.failed, cause }: CliErrorParts) {
    super(message, { cause });
    this.name = 'CliError';
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function list(values: Values, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value : [];
}
