// The completion of bash: words of our own where there are some, else the names of files.

import { optionsOf } from '../arguments.ts';
import type { Command, Option } from '../command.ts';

export function bashScript(commands: readonly Command[]): string {
  const names = [...commands.map(({ name }) => name), 'help'];
  return `# bash completion of sluice; to use it: source <(sluice completion bash)
_sluice() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=${quoted([...names, '--help', '--version'])}
  else
    case $command:$prev in
${commands.flatMap(valueCases).join('\n')}
    esac
    if [[ $cur == -* ]]; then
      case $command in
${commands.map(optionCase).join('\n')}
      esac
    elif [[ -z $words ]]; then
      case $command in
        help) words=${quoted(names)} ;;
${commands.flatMap(choiceCase).join('\n')}
      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _sluice sluice
`;
}

/** The values an option may have. */
function valueCases(command: Command): string[] {
  return Object.entries(optionsOf(command)).flatMap(([name, option]) => {
    if (option.choices === undefined) return [];
    const given = flagsOf(name, option).map((flag) => `${command.name}:${flag}`);
    return [`      ${given.join(' | ')}) words=${quoted(option.choices)} ;;`];
  });
}

function optionCase(command: Command): string {
  const flags = Object.entries(optionsOf(command)).flatMap(([name, option]) => flagsOf(name, option));
  return `        ${command.name}) words=${quoted(flags)} ;;`;
}

function choiceCase({ name, positionals }: Command): string[] {
  const choices = positionals.flatMap((positional) => positional.choices ?? []);
  return choices.length === 0 ? [] : [`        ${name}) words=${quoted(choices)} ;;`];
}

export function flagsOf(name: string, { short }: Option): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

function quoted(words: readonly string[]): string {
  return `'${words.join(' ')}'`;
}
