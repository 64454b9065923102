// `sluice completion bash|zsh|fish`: a script that completes commands and options, made from the table of commands.

import { type Command, type CommandModule, EXIT } from './command.ts';
import { bashScript } from './completion/bash.ts';
import { fishScript } from './completion/fish.ts';
import { zshScript } from './completion/zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The table loads this file, so it hands itself over instead of being imported. */
export function completionOf(commands: readonly Command[]): CommandModule {
  return {
    run: async ({ positionals, io }) => {
      io.stdout.write(SCRIPTS[positionals[0] as keyof typeof SCRIPTS](commands));
      return EXIT.done;
    },
  };
}
