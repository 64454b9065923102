// `--allow NAME@HASH`: the only definitions that a runner will run, as `sluice push` shows them.

import { shown } from '../../schema/diagnostic.ts';
import { isBlake3 } from '../../schema/words.ts';
import { CliError } from '../command.ts';

/** Null if nothing is said: then everything that the control plane hands out. */
export function readAllowed(written: readonly string[]): ReadonlyMap<string, string> | null {
  if (written.length === 0) return null;
  return new Map(written.map(readOne));
}

function readOne(written: string): [string, string] {
  const at = written.lastIndexOf('@');
  const hash = written.slice(at + 1);
  if (at > 0 && isBlake3(hash)) return [written.slice(0, at), hash];
  throw new CliError({
    code: 'bad-allow',
    message: `--allow ${shown(written)} is not NAME@HASH`,
    hint: 'write what `sluice push` shows, with the whole hash: NAME@blake3:…',
  });
}
