// The completion of zsh, with a word of explanation beside each command and option.

import { optionsOf } from '../arguments.ts';
import type { Command, Option, Positional } from '../command.ts';
import { flagsOf } from './bash.ts';

export function zshScript(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  return `#compdef sluice
# zsh completion of sluice; to use it: source <(sluice completion zsh)
_sluice() {
  local -a commands
  commands=(
${described.join('\n')}
    'help:Show the help of a command'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
    help) _describe command commands ;;
${commands.map(commandCase).join('\n')}
  esac
}
compdef _sluice sluice
`;
}

function commandCase(command: Command): string {
  const options = Object.entries(optionsOf(command)).map(([name, option]) => optionSpec(name, option));
  const positionals = command.positionals.map(positionalSpec);
  return `    ${command.name}) _arguments ${[...options, ...positionals].join(' ')} ;;`;
}

function optionSpec(name: string, option: Option): string {
  const value =
    option.type === 'boolean' ? '' : `:${escaped(option.value ?? 'VALUE')}:${valuesOf(option.choices)}`;
  const star = option.multiple ? '*' : '';
  return flagsOf(name, option)
    .map((flag) => quoted(`${star}${flag}[${escaped(option.summary)}]${value}`))
    .join(' ');
}

function positionalSpec({ name, repeated, choices }: Positional): string {
  return quoted(`${repeated ? '*' : ''}:${escaped(name)}:${valuesOf(choices)}`);
}

function valuesOf(choices: readonly string[] | undefined): string {
  return choices === undefined ? '_files' : `(${choices.join(' ')})`;
}

function escaped(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
