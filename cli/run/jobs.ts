// `--jobs N`.

import { shown } from '../../schema/diagnostic.ts';
import { CliError } from '../command.ts';

export function jobsOf(written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const jobs = Number(written);
  if (Number.isInteger(jobs) && jobs > 0) return jobs;
  throw new CliError({
    code: 'bad-jobs',
    message: `--jobs ${shown(written)} is not a number of commands`,
    hint: 'write a whole number from 1, for example --jobs 4',
  });
}
