// What the control plane refused, as a mistake that the caller can mend.

import { Refused } from '../host/client.ts';
import { CliError } from './command.ts';

export function explained(error: unknown): unknown {
  if (!(error instanceof Refused)) return error;
  return new CliError({ code: error.code, message: error.message, hint: error.hint, cause: error });
}

/** Refusals, networks and disks are: somebody can mend them while we go on. Anything else is our own mistake. */
export function isOfTheWorld(error: unknown): error is Error {
  return (
    error instanceof Refused || error instanceof CliError || (error instanceof Error && 'syscall' in error)
  );
}
