// Which workflow files `up` keeps: those that are named, and those in the directories that are named.

import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import { CliError } from '../command.ts';

export interface Finding {
  /** Absolute, each once, in order. */
  readonly files: readonly string[];
  /** Whose new files are picked up later; absolute. */
  readonly directories: readonly string[];
}

export function findWorkflows(named: readonly string[], cwd: string): Finding {
  const files = new Set<string>();
  const directories: string[] = [];
  for (const name of named.length === 0 ? ['.'] : named) {
    const path = resolve(cwd, name);
    if (!statOrExplain(path, name).isDirectory()) files.add(path);
    else {
      directories.push(path);
      for (const file of workflowsIn(path)) files.add(file);
    }
  }
  return { files: [...files], directories };
}

/** In the directory and in those directly in it, which is how examples and projects are laid out. */
export function workflowsIn(directory: string): string[] {
  const inside = list(directory)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => join(directory, name));
  return [directory, ...inside].flatMap((each) =>
    list(each)
      .filter((entry) => entry.isFile() && WORKFLOW_NAME.test(entry.name) && !OUR_OWN.test(entry.name))
      .map(({ name }) => join(each, name))
      .filter(looksLikeWorkflow)
      .sort(),
  );
}

const WORKFLOW_NAME = /^[^.].*\.(ya?ml|json)$/i;
const OUR_OWN = /\.lock\.yaml$/;
/** The keys that tell the three kinds apart, at the start of a line as people write them. */
const OWN_KEY =
  /^(stages|tasks)\s*:|^\s*["']?mode["']?\s*:\s*["']?pipeline\b|^\s*["']?(stages|tasks)["']\s*:/m;
const HEAD_BYTES = 256 * 1024;

/** Many YAML and JSON files are something else; only those that mean to be workflows are told what is wrong. */
function looksLikeWorkflow(file: string): boolean {
  try {
    const { size } = statSync(file);
    return size <= HEAD_BYTES && OWN_KEY.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

function list(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function statOrExplain(path: string, name: string): Stats {
  try {
    return statSync(path);
  } catch (cause) {
    throw new CliError({
      code: 'missing-file',
      message: `${shown(name)} does not exist`,
      hint: 'name a workflow file, or a directory with workflow files in it',
      cause,
    });
  }
}
