// A file that cannot be written is the caller's to mend, not our bug.

import { WriteError } from '../host/atomic-write.ts';
import { CliError } from './command.ts';

export function orExplain(write: () => void): void {
  try {
    write();
  } catch (cause) {
    if (!(cause instanceof WriteError)) throw cause;
    throw new CliError({ code: cause.code, message: cause.message, hint: cause.hint, cause });
  }
}
