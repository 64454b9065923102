// What is to be kept running: which program with which words, where, and under which name.

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import { readArguments } from '../arguments.ts';
import { CliError, type Command, type Io, text, type Values } from '../command.ts';

/** The first line of what we write; without it a file is somebody else's. */
export const OURS = '# Written by `sluice service install`; `sluice service uninstall` removes it.';

export interface ServicePlan {
  readonly name: string;
  readonly title: string;
  /** Absolute program first. */
  readonly command: readonly string[];
  readonly directory: string;
  readonly path: string;
  readonly stopSeconds: number;
}

/** As long as systemd waits by itself: a command that takes longer is made again after the next start. */
const STOP_SECONDS = 90;

export interface Planning {
  readonly what: string;
  /** Its words, as they would be typed in this directory. */
  readonly args: readonly string[];
  /** What there is to run. */
  readonly commands: readonly Command[];
  /** The name that was asked for, if any. */
  readonly asked: string | undefined;
}

export function planService({ what, args, commands, asked }: Planning, io: Io): ServicePlan {
  const command = commands.find(({ name }) => name === what);
  if (command === undefined) throw unknownCommand(what);
  const { values, wantsHelp } = readArguments(command, args);
  if (wantsHelp) throw misplacedHelp(what);
  refuseSecrets(args, values, io);
  const path = io.env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
  const words = [process.execPath, resolve(process.argv[1]!), what, ...args];
  for (const word of [...words, io.cwd, path]) refuseUnwritable(word);
  return {
    name: nameOf(what, asked, io.cwd),
    title: `sluice ${what} in ${io.cwd}`,
    command: words,
    directory: io.cwd,
    path,
    stopSeconds: STOP_SECONDS,
  };
}

/** `sluice-up-word-count`, after the directory, so that several projects can be kept side by side. */
export function nameOf(what: string, asked: string | undefined, directory: string): string {
  if (asked !== undefined) {
    if (/^[A-Za-z0-9][\w.-]{0,99}$/.test(asked)) return asked;
    throw new CliError({
      code: 'bad-name',
      message: `--name ${shown(asked)} cannot be the name of a service`,
      hint: 'use letters, digits, dots, dashes and underscores',
    });
  }
  const place = basename(directory)
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60);
  return `sluice-${what}-${place === '' ? 'here' : place}`;
}

/** A unit is readable by others and is copied about; a token belongs into a file. */
function refuseSecrets(args: readonly string[], values: Values, { cwd, env }: Io): void {
  const tokenFile = text(values, 'token-file');
  const secret = args.find((word) => /sluice_[\w-]{43}|:\/\/[^/?#]*:[^/?#]*@|authToken=/i.test(word));
  if (secret !== undefined) throw secretGiven('a secret among the words of the command');
  if (tokenFile === undefined && text(values, 'api') !== undefined && env.SLUICE_TOKEN)
    throw secretGiven('SLUICE_TOKEN, which a service does not see');
  if (tokenFile !== undefined && !existsSync(resolve(cwd, tokenFile))) {
    throw new CliError({
      code: 'no-token',
      message: `there is no token in ${shown(tokenFile)}`,
      hint: 'make one with `sluice token create` and keep it in a file that only you can read',
    });
  }
}

function secretGiven(what: string): CliError {
  return new CliError({
    code: 'secret-in-service',
    message: `${what} would have to stand in the service file, where others can read it`,
    hint: 'write the token into a file that only you can read, and name it with --token-file',
  });
}

/** Neither format can say every byte that a path may have. */
function refuseUnwritable(word: string): void {
  if (!/[\x00-\x1f\x7f]/.test(word) && !/[\s\\]$/.test(word)) return;
  throw new CliError({
    code: 'unwritable-path',
    message: `'${shown(word)}' cannot stand in a service file`,
    hint: 'a path with control characters, or with a space or a backslash at its end, must be renamed',
  });
}

function unknownCommand(what: string): CliError {
  return new CliError({
    code: 'unknown-service',
    message: `this sluice has no command '${shown(what)}' to keep running`,
    hint: "see 'sluice help'",
  });
}

function misplacedHelp(what: string): CliError {
  return new CliError({
    code: 'bad-option',
    message: '--help is nothing to keep running',
    hint: `see 'sluice help ${what}'`,
  });
}
