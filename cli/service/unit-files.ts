// The folder of the user's own systemd units, and which of the files there are ours.

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { WriteError, writeFileAtomic } from '../../host/atomic-write.ts';
import { shown } from '../../schema/diagnostic.ts';
import { CliError, type Io } from '../command.ts';
import { orExplain } from '../write-error.ts';
import { OURS } from './service-plan.ts';

export interface UnitFile {
  readonly name: string;
  readonly file: string;
  readonly directory: string;
}

/** XDG_CONFIG_HOME counts only if it is absolute, as its specification says. */
export function unitFolder({ env }: Io): string {
  const config = env.XDG_CONFIG_HOME;
  const home = env.HOME ?? homedir();
  return join(config !== undefined && isAbsolute(config) ? config : join(home, '.config'), 'systemd', 'user');
}

export function unitPath(name: string, io: Io): string {
  return join(unitFolder(io), `${name}.service`);
}

/** Of this directory, or new; anything else is not to be written over. */
export function writeUnit(name: string, unit: string, io: Io): 'new' | 'changed' | 'unchanged' {
  const file = unitPath(name, io);
  const before = readOrNull(file);
  if (before === unit) return 'unchanged';
  if (before !== null && !before.startsWith(OURS)) throw notOurs(file);
  if (before !== null && directoryOf(before) !== directoryOf(unit)) throw taken(name, directoryOf(before));
  orExplain(() => {
    try {
      mkdirSync(unitFolder(io), { recursive: true });
    } catch (cause) {
      throw new WriteError(file, cause);
    }
    writeFileAtomic(file, unit);
  });
  return before === null ? 'new' : 'changed';
}

export function removeUnit(name: string, io: Io): string {
  const file = unitPath(name, io);
  const before = readOrNull(file);
  if (before === null) {
    throw new CliError({
      code: 'no-service',
      message: `there is no ${shown(file)}`,
      hint: '`sluice service status` lists what is installed; --name says which',
    });
  }
  if (!before.startsWith(OURS)) throw notOurs(file);
  rmSync(file);
  // What `systemctl enable` made would point to nothing.
  rmSync(join(unitFolder(io), 'default.target.wants', `${name}.service`), { force: true });
  return file;
}

export function unitsOfOurs(io: Io): UnitFile[] {
  const folder = unitFolder(io);
  return namesIn(folder).flatMap((entry) => {
    const file = join(folder, entry);
    const text = entry.endsWith('.service') ? readOrNull(file) : null;
    if (text === null || !text.startsWith(OURS)) return [];
    return [{ name: entry.slice(0, -'.service'.length), file, directory: directoryOf(text) }];
  });
}

function directoryOf(unit: string): string {
  return (/^WorkingDirectory=(.*)$/m.exec(unit)?.[1] ?? '').replaceAll('%%', '%');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function notOurs(file: string): CliError {
  return new CliError({
    code: 'not-our-service',
    message: `${shown(file)} was not written by sluice`,
    hint: 'choose another name with --name; nothing was changed',
  });
}

function taken(name: string, directory: string): CliError {
  return new CliError({
    code: 'service-exists',
    message: `there is a service ${shown(name)} for ${shown(directory)} already`,
    hint: 'choose another name with --name; nothing was changed',
  });
}
