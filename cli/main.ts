// The program: finds the command, runs it, and turns whatever comes of it into output and an exit code.

import { inspect } from 'node:util';
import { nearest, shown } from '../schema/diagnostic.ts';
import { readArguments } from './arguments.ts';
import { CliError, type Command, EXIT, type ExitCode, type Io } from './command.ts';
import { COMMANDS } from './commands.ts';
import { commandHelp, programHelp } from './help.ts';
import { onOutputError, paint, processIo } from './render/output.ts';

declare const SLUICE_VERSION: string;

/** What the shell reports for a program that SIGPIPE ended. */
const READER_GONE = 141;

/** Called by bin/sluice.js. Sets the exit code and returns, so that a slow reader still gets all output. */
export async function start(): Promise<void> {
  const io = processIo();
  onOutputError((error) =>
    process.exit(error.code === 'EPIPE' ? READER_GONE : reportFailure(lostOutput(error), io)),
  );
  process.on('uncaughtException', (error) => process.exit(reportFailure(error, io)));
  process.exitCode = await main(process.argv.slice(2), io, COMMANDS);
}

export async function main(argv: readonly string[], io: Io, commands: readonly Command[]): Promise<ExitCode> {
  try {
    return await dispatch(argv, io, commands);
  } catch (error) {
    return reportFailure(error, io);
  }
}

async function dispatch(argv: readonly string[], io: Io, commands: readonly Command[]): Promise<ExitCode> {
  const [first, ...rest] = argv;
  switch (first) {
    case undefined:
      io.stderr.write(programHelp(commands));
      return EXIT.failed;
    case '-V':
    case '--version':
      return print(io, `${SLUICE_VERSION}\n`);
    case '-h':
    case '--help':
    case 'help':
      return print(io, helpOn(rest[0], commands));
    default:
      return runCommand(findCommand(first, commands), rest, io);
  }
}

async function runCommand(command: Command, args: readonly string[], io: Io): Promise<ExitCode> {
  const { wantsHelp, values, positionals } = readArguments(command, args);
  if (wantsHelp) return print(io, commandHelp(command));
  const { run } = await command.load();
  return run({ values, positionals, io });
}

function helpOn(name: string | undefined, commands: readonly Command[]): string {
  return name === undefined ? programHelp(commands) : commandHelp(findCommand(name, commands));
}

function findCommand(name: string, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const isOption = name.startsWith('-');
  const known = isOption ? ['--help', '--version'] : ['help', ...commands.map((candidate) => candidate.name)];
  const close = nearest(name, known);
  throw new CliError({
    code: isOption ? 'unknown-option' : 'unknown-command',
    message: `there is no ${isOption ? 'option' : 'command'} '${shown(name)}'`,
    hint: close === undefined ? "see 'sluice help'" : `did you mean '${close}'?`,
  });
}

function print(io: Io, text: string): ExitCode {
  io.stdout.write(text);
  return EXIT.done;
}

function reportFailure(thrown: unknown, io: Io): ExitCode {
  const error = ofTheDisk(thrown) ?? thrown;
  const title = paint(io, 'red', 'sluice:');
  if (error instanceof CliError) {
    const hint = error.hint === undefined ? '' : `  ${paint(io, 'cyan', '→')} ${error.hint}\n`;
    io.stderr.write(`${title} ${error.message}\n${hint}`);
    return error.exitCode;
  }
  io.stderr.write(
    `${title} ${inspect(error)}\nThis is a bug in sluice; please report it with the lines above.\n`,
  );
  return EXIT.bug;
}

/** A disk that is full or closed to us is nobody's bug. */
function ofTheDisk(error: unknown): CliError | null {
  if (!(error instanceof Error) || error instanceof CliError) return null;
  const { code = '', hint, path } = error as NodeJS.ErrnoException & { hint?: string };
  if (code === 'cannot-write') return new CliError({ code, message: error.message, hint, cause: error });
  const closed = path === undefined ? undefined : CLOSED[code];
  if (closed !== undefined) {
    const message = `${shown(path!)}: ${closed[0]} (${code})`;
    return new CliError({ code: 'cannot-use', message, hint: closed[1], cause: error });
  }
  if (!/^(ENOSPC|EDQUOT|SQLITE_FULL|database-full)$/.test(code)) return null;
  return new CliError({
    code: 'disk-full',
    message: `the disk is full: ${error.message}`,
    hint: hint ?? 'free some space on that file system and run again; what is done is kept',
    cause: error,
  });
}

const CLOSED: Readonly<Record<string, readonly [fact: string, hint: string]>> = {
  EACCES: ['this user has no permission for it', 'give this user permission to read and write it'],
  EPERM: ['it may not be changed', 'check its owner and its attributes'],
  EROFS: ['its file system is read-only', 'mount it writable, or work in a copy elsewhere'],
  EISDIR: ['a directory stands where a file is needed', 'move the directory away'],
  ENOTDIR: ['a part of its path is no directory', 'move what is in the way'],
  ELOOP: ['its links lead in a circle', 'mend the links'],
};

function lostOutput(cause: NodeJS.ErrnoException): CliError {
  return new CliError({
    code: 'output-lost',
    message: `the output could not be written: ${cause.message}`,
    hint: 'check where stdout and stderr go',
    cause,
  });
}
