// The completion of fish: one line for every command and every option of one.

import { optionsOf } from '../arguments.ts';
import type { Command } from '../command.ts';

export function fishScript(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c sluice -n __fish_use_subcommand -f -a ${command.name} -d ${quoted(command.summary)}`,
    ...optionLines(command),
    ...choiceLines(command),
  ]);
  return `# fish completion of sluice; to use it: sluice completion fish | source
${lines.join('\n')}
complete -c sluice -n __fish_use_subcommand -f -a help -d 'Show the help of a command'
`;
}

function optionLines(command: Command): string[] {
  return Object.entries(optionsOf(command)).map(([name, option]) => {
    const short = option.short === undefined ? '' : ` -s ${option.short}`;
    const values = option.choices === undefined ? '' : ` -f -a ${quoted(option.choices.join(' '))}`;
    const value = option.type === 'boolean' ? '' : ` -r${values}`;
    return `complete -c sluice -n ${seen(command)} -l ${name}${short}${value} -d ${quoted(option.summary)}`;
  });
}

function choiceLines(command: Command): string[] {
  const choices = command.positionals.flatMap((positional) => positional.choices ?? []);
  return choices.length === 0
    ? []
    : [`complete -c sluice -n ${seen(command)} -f -a ${quoted(choices.join(' '))}`];
}

function seen({ name }: Command): string {
  return `'__fish_seen_subcommand_from ${name}'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
