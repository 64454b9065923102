// The words after a command's name, read by its entry in the table; every mistake is told with its remedy.

import { parseArgs } from 'node:util';
import { nearest, shown } from '../schema/diagnostic.ts';
import { CliError, type Command, type Option, type Positional, type Values } from './command.ts';

export interface Arguments {
  readonly wantsHelp: boolean;
  readonly values: Values;
  readonly positionals: readonly string[];
}

const HELP: Option = { type: 'boolean', short: 'h', summary: 'Show this help' };

export function readArguments(command: Command, args: readonly string[]): Arguments {
  const options = optionsOf(command);
  // Not strict, because node's own messages know neither the nearest name nor the choices.
  const parsed = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const given = parsed.tokens.filter((token) => token.kind === 'option');
  if (given.some((token) => token.name === 'help')) return { wantsHelp: true, values: {}, positionals: [] };
  for (const token of given) checkOption(command, token);
  checkPositionals(command, parsed.positionals);
  return { wantsHelp: false, values: parsed.values as Values, positionals: parsed.positionals };
}

export function optionsOf(command: Command): Readonly<Record<string, Option>> {
  return { ...command.options, help: HELP };
}

/** An option as parseArgs saw it on the command line. */
interface GivenOption {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkOption(command: Command, given: GivenOption): void {
  const options = optionsOf(command);
  const option = Object.hasOwn(options, given.name) ? options[given.name] : undefined;
  if (option === undefined) throw unknownOption(command, given);
  const mistake = option.type === 'string' ? mistakeInValue(option, given) : mistakeInFlag(given);
  if (mistake !== undefined) throw misuse(command, 'bad-option', mistake);
}

function mistakeInFlag({ rawName, value }: GivenOption): string | undefined {
  return value === undefined ? undefined : `${rawName} takes no value, got '${shown(value)}'`;
}

function mistakeInValue(option: Option, { rawName, value, inlineValue }: GivenOption): string | undefined {
  if (value === undefined) return `${rawName} needs a value`;
  // `--out --json` is far more often a forgotten value than a file of that name.
  if (!inlineValue && value.length > 1 && value.startsWith('-')) {
    return `${rawName} needs a value; write ${joined(rawName, value)} if '${shown(value)}' is meant as one`;
  }
  return mistakeInChoice(rawName, option.choices, value);
}

function joined(rawName: string, value: string): string {
  return rawName.startsWith('--') ? `${rawName}=${shown(value)}` : `${rawName}${shown(value)}`;
}

function mistakeInChoice(
  name: string,
  choices: readonly string[] | undefined,
  value: string,
): string | undefined {
  if (choices === undefined || choices.includes(value)) return undefined;
  return `${name} is one of ${choices.join(', ')}; got '${shown(value)}'`;
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const missing = command.positionals.find((positional, i) => positional.required && i >= given.length);
  if (missing !== undefined)
    throw misuse(command, 'missing-argument', `${command.name} needs ${missing.name}`);
  given.forEach((value, i) => {
    const positional = positionalAt(command, i);
    if (positional === undefined) {
      throw misuse(command, 'extra-argument', `${command.name} has no use for '${shown(value)}'`);
    }
    const mistake = mistakeInChoice(positional.name, positional.choices, value);
    if (mistake !== undefined) throw misuse(command, 'bad-argument', mistake);
  });
}

function positionalAt({ positionals }: Command, index: number): Positional | undefined {
  const last = positionals.at(-1);
  return positionals[index] ?? (last?.repeated ? last : undefined);
}

function unknownOption(command: Command, { name, rawName }: GivenOption): CliError {
  const close = rawName.startsWith('--') ? nearest(name, Object.keys(optionsOf(command))) : undefined;
  return new CliError({
    code: 'unknown-option',
    message: `${command.name} has no option ${shown(rawName)}`,
    hint: close === undefined ? helpHint(command) : `did you mean --${close}?`,
  });
}

function misuse(command: Command, code: string, message: string): CliError {
  return new CliError({ code, message, hint: helpHint(command) });
}

function helpHint(command: Command): string {
  return `see 'sluice help ${command.name}'`;
}
