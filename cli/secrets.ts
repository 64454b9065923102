// Where the values of secrets come from: a file of `NAME=value` lines, else the environment. They are named in a
// workflow and never stand in it.

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { shown } from '../schema/diagnostic.ts';
import type { Workflow } from '../schema/workflow.ts';
import { CliError, type Io } from './command.ts';

export type SecretOf = (name: string) => string | undefined;

/** `--secrets F`, or SLUICE_SECRETS for commands that have no such option. */
export function readSecrets(io: Io, file = io.env.SLUICE_SECRETS): SecretOf {
  const own = file === undefined || file === '' ? new Map<string, string>() : readFile(file, io);
  return (name) => {
    const value = own.get(name) ?? io.env[name];
    return value === '' ? undefined : value;
  };
}

export function refuseWithoutSecrets({ stages }: Workflow, file: string, secretOf: SecretOf): void {
  const missing = new Set(
    stages.flatMap(({ secrets }) => secrets.filter((name) => secretOf(name) === undefined)),
  );
  if (missing.size === 0) return;
  const names = [...missing].map(shown);
  throw new CliError({
    code: 'no-secret',
    message: `${shown(file)} needs ${names.length === 1 ? 'the secret' : 'the secrets'} ${names.join(', ')}, which ${names.length === 1 ? 'is' : 'are'} not set`,
    hint: `put it into the environment, or as ${names[0]}=… into a file that only you can read and name that with --secrets; nothing was run`,
  });
}

function readFile(file: string, io: Io): Map<string, string> {
  const path = resolve(io.cwd, file);
  const text = textOf(path, file);
  if ((statSync(path).mode & 0o077) !== 0)
    throw bad(`others may read ${shown(file)}`, `chmod 600 ${shown(file)}`);
  return new Map(
    text.split(/\r?\n/).flatMap((line, i): [string, string][] => {
      if (line.trim() === '' || line.startsWith('#')) return [];
      const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
      // Never the line itself: it may hold what must not be shown.
      if (name === undefined || value === undefined)
        throw bad(`line ${i + 1} of ${shown(file)} is not NAME=value`, 'write one secret per line');
      return [
        [
          name,
          quoted(value, () =>
            bad(
              `the value of ${name} in ${shown(file)} begins with " and is no JSON string`,
              'end it with ", and write a line break as \\n',
            ),
          ),
        ],
      ];
    }),
  );
}

/** In double quotes it is a JSON string, so that it may have several lines. */
function quoted(value: string, wrong: () => CliError): string {
  if (!value.startsWith('"')) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'string') return parsed;
  } catch {}
  throw wrong();
}

function textOf(path: string, file: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw bad(
      `cannot read the secrets in ${shown(file)} (${(cause as NodeJS.ErrnoException).code})`,
      'check --secrets or SLUICE_SECRETS',
    );
  }
}

function bad(message: string, hint: string): CliError {
  return new CliError({ code: 'bad-secrets', message, hint });
}
