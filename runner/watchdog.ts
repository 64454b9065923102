// A shell that outlives us by an instant: when its pipe from us ends, it kills the groups that we had running.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Watchdog {
  watch(group: number): void;
  forget(group: number): void;
  close(): Promise<void>;
}

/** At once and without asking: the next owner may be starting, and nobody is left to wait for good manners. */
const LOOP = `live=' '
while read -r sign group; do
  case $sign in
  +) live="$live$group " ;;
  -) live="\${live%% $group *} \${live#* $group }" ;;
  esac
done
for group in $live; do kill -s KILL -- "-$group"; done`;

export function startWatchdog(sh: string): Watchdog {
  const shell = spawn(sh, ['-c', LOOP, 'sluice-watchdog'], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = once(shell, 'close').catch(() => {});
  // If somebody kills it, commands lose this protection; the journal remains.
  shell.stdin.on('error', () => {});
  return {
    watch: (group) => void shell.stdin.write(`+ ${group}\n`),
    forget: (group) => void shell.stdin.write(`- ${group}\n`),
    async close() {
      shell.stdin.end();
      await gone;
    },
  };
}
