// The help, made from the table of commands so that the two cannot differ.

import { optionsOf } from './arguments.ts';
import type { Command, Option, Positional } from './command.ts';

export function programHelp(commands: readonly Command[]): string {
  return [
    'Usage: sluice COMMAND [ARGUMENTS]',
    '',
    'Keeps derived files fresh across machines: drop files into folders, work flows out.',
    '',
    'Commands:',
    ...columns(commands.map((command) => [command.name, command.summary])),
    '',
    'Options:',
    ...columns([
      ['-h, --help', 'Show this help'],
      ['-V, --version', 'Show the version'],
    ]),
    '',
    "'sluice help COMMAND' tells more about one command.",
    '',
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const options = Object.entries(optionsOf(command));
  return [
    `Usage: ${usageOf(command)}`,
    '',
    `${command.summary}.`,
    ...choicesOf(command.positionals),
    '',
    'Options:',
    ...columns(options.map(([name, option]) => [optionLabel(name, option), optionSummary(option)])),
    '',
  ].join('\n');
}

export function usageOf(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) => optionUsage(name, option));
  return ['sluice', command.name, ...command.positionals.map(positionalUsage), ...options].join(' ');
}

function positionalUsage({ name, required, repeated }: Positional): string {
  const word = repeated ? `${name}...` : name;
  return required ? word : `[${word}]`;
}

function optionUsage(name: string, option: Option): string {
  const word = option.short === undefined ? `--${name}` : `-${option.short}`;
  return `[${word}${valueLabel(option, '|')}]${option.multiple ? '...' : ''}`;
}

function optionLabel(name: string, option: Option): string {
  const short = option.short === undefined ? '    ' : `-${option.short}, `;
  return `${short}--${name}${valueLabel({ ...option, choices: undefined })}`;
}

function optionSummary({ summary, choices }: Option): string {
  return choices === undefined ? summary : `${summary} (${choices.join(', ')})`;
}

function valueLabel(
  option: Pick<Option, 'type' | 'value'> & { choices?: Option['choices'] | undefined },
  separator = '',
): string {
  if (option.type === 'boolean') return '';
  return ` ${option.choices?.join(separator) ?? option.value ?? 'VALUE'}`;
}

function choicesOf(positionals: readonly Positional[]): string[] {
  return positionals.flatMap(({ name, choices }) =>
    choices === undefined ? [] : ['', `${name} is one of ${choices.join(', ')}.`],
  );
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
