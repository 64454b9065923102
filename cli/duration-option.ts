// A length of time on the command line.

import { shown } from '../schema/diagnostic.ts';
import { parseDuration } from '../schema/duration.ts';
import { CliError } from './command.ts';

export function durationMs(option: string, written: string): number {
  const parsed = parseDuration(written);
  if (parsed.ok) return parsed.ms;
  throw new CliError({
    code: 'bad-duration',
    message: `${option} ${shown(written)} is not a length of time`,
    hint: `write it like ${option} 30d, 12h or 90s`,
  });
}
