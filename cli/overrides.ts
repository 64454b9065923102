// `--set name=value`: params for this run alone, their values read as YAML scalars.

import { parse } from 'yaml';
import { shown, suggest } from '../schema/diagnostic.ts';
import type { Json } from '../schema/words.ts';
import { CliError, type Io } from './command.ts';
import { loadFile } from './load-file.ts';

export function readOverrides(
  written: readonly string[],
  file: string,
  io: Io,
): Readonly<Record<string, Json>> | undefined {
  if (written.length === 0) return undefined;
  const entries = written.map(readOverride);
  const known = Object.keys(loadFile(file, { ...io, stderr: { write: () => {} } }).workflow.params);
  for (const [name] of entries) {
    if (known.includes(name)) continue;
    throw new CliError({
      code: 'unknown-param',
      message: `--set ${shown(name)}: the workflow has no such param`,
      hint: suggest(name, known),
    });
  }
  return Object.fromEntries(entries);
}

export function readOverride(written: string): [string, Json] {
  const at = written.indexOf('=');
  if (at < 1) throw bad(written, 'write --set name=value');
  try {
    return [written.slice(0, at), parse(written.slice(at + 1), { schema: 'core' }) as Json];
  } catch {
    throw bad(written, 'put the value in quotes, as in YAML');
  }
}

function bad(written: string, hint: string): CliError {
  return new CliError({ code: 'bad-override', message: `--set ${shown(written)} cannot be read`, hint });
}
