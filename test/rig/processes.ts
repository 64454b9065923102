// Which processes of commands there are: every command knows the directory of its workflow.

import { readdirSync, readFileSync } from 'node:fs';
import { factsOf } from '../../runner/platform.ts';

export function commandsUnder(root: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        factsOf(Number(name))?.isZombie === false &&
        readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`SLUICE_ROOT=${root}`)
      );
    } catch {
      return false;
    }
  });
}
