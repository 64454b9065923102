// `--root [WORKFLOW=]DIR`: where workflows' files are on this machine, if not where they are registered.

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RootOption } from '../host/roots.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, type Io } from './command.ts';

export function readRoots(written: readonly string[], io: Io): readonly RootOption[] {
  const options = written.map((each) => readRoot(each, io));
  for (const [i, { workflow }] of options.entries()) {
    if (options.findIndex((each) => each.workflow === workflow) === i) continue;
    throw new CliError({
      code: 'bad-root',
      message: `--root is given twice for ${workflow === null ? 'every workflow' : `'${shown(workflow)}'`}`,
      hint: 'give one directory for each workflow: --root WORKFLOW=DIR',
    });
  }
  return options;
}

/** What begins like a path is one as a whole: a directory whose name has a `=` is written `./a=b`. */
function readRoot(written: string, io: Io): RootOption {
  const equals = /^[./~]/.test(written) ? -1 : written.indexOf('=');
  const workflow = equals > 0 ? written.slice(0, equals) : null;
  return { workflow, dir: existing(workflow === null ? written : written.slice(equals + 1), io) };
}

function existing(written: string, io: Io): string {
  const path = resolve(io.cwd, written);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return realpathSync(path);
  throw new CliError({
    code: 'bad-root',
    message: `--root ${shown(written)} ${stat === undefined ? 'does not exist' : 'is not a directory'}`,
    hint: 'name the directory that has the files of the workflow; mount it first if it is on another disk',
  });
}
