// Reads `--root [WORKFLOW=]DIR…`: where the files of workflows are on this machine.

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RootOption } from '../../host/roots.ts';
import { shown } from '../../schema/diagnostic.ts';
import { CliError } from '../command.ts';

export function readRoots(written: readonly string[], cwd: string): readonly RootOption[] {
  const roots = written.map((each) => readRoot(each, cwd));
  for (const [i, { workflow }] of roots.entries()) {
    if (roots.findIndex((each) => each.workflow === workflow) === i) continue;
    throw new CliError({
      code: 'two-roots',
      message: `--root says twice where the files of ${workflow === null ? 'all workflows' : shown(workflow)} are`,
      hint: 'name one directory for each; --root WORKFLOW=DIR is for that workflow alone',
    });
  }
  return roots;
}

function readRoot(written: string, cwd: string): RootOption {
  const equals = written.indexOf('=');
  // A name of a workflow holds no slash before its equals sign; a path that does is meant as a whole.
  const isNamed = equals > 0 && !/^[./~]/.test(written);
  const workflow = isNamed ? written.slice(0, equals) : null;
  const dir = resolve(cwd, isNamed ? written.slice(equals + 1) : written);
  const stat = statSync(dir, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return { workflow, dir: realpathSync(dir) };
  throw new CliError({
    code: 'bad-root',
    message: `--root ${shown(written)}: ${shown(dir)} ${stat === undefined ? 'does not exist' : 'is not a directory'}`,
    hint: 'name the directory that the workflow has its files in on this machine, and mount it first',
  });
}
