// From a path on the command line to a loaded workflow, with what is wrong told the same way by every command.

import { basename, dirname, resolve } from 'node:path';
import { type Loaded, loadWorkflow } from '../schema/load-workflow.ts';
import type { Json } from '../schema/words.ts';
import { CliError, EXIT, type Io } from './command.ts';
import { readWorkflowText } from './read-workflow.ts';
import { type FileReport, renderReport } from './render/diagnostics.ts';

export type LoadedFile = Exclude<Loaded, { kind: 'invalid' }>;
export type LoadedWorkflow = Extract<Loaded, { kind: 'workflow' }> & {
  readonly path: string;
  readonly text: string;
};

export interface Reading {
  readonly cwd: string;
  /** Where relative paths stand, if not beside the file. */
  readonly root?: string;
  readonly set?: Readonly<Record<string, Json>> | undefined;
}

/** What `validate` prints and every other command stops at. */
export function checkFile(file: string, { cwd, root, set }: Reading) {
  const path = resolve(cwd, file);
  const read = readWorkflowText(path);
  if (!read.ok) return { path, report: { file, text: '', problem: read, diagnostics: [] }, loaded: null };
  const options = { name: stemOf(path), root: root ?? dirname(path), ...(set && { set }) };
  const loaded = loadWorkflow(read.text, options);
  const report: FileReport = { file, text: read.text, problem: null, diagnostics: loaded.diagnostics };
  return { path, report, loaded: loaded.kind === 'invalid' ? null : loaded };
}

/** The workflow in a file; anything wrong with it ends the command with exit code 2. */
export function loadFile(file: string, io: Io, set?: Readonly<Record<string, Json>>): LoadedWorkflow {
  const { path, report, loaded } = checkFile(file, { cwd: io.cwd, set });
  io.stderr.write(renderReport(report, io));
  if (loaded?.kind === 'workflow') return { ...loaded, path, text: report.text };
  const isSettings = loaded?.kind === 'settings';
  throw new CliError({
    code: 'invalid-workflow',
    message: isSettings ? `${file} holds settings, not a workflow` : `${file} is not a valid workflow`,
    hint: isSettings ? 'name a file with stages or tasks' : 'mend what is listed above',
    exitCode: EXIT.invalid,
  });
}

/** `p.yaml` → `p`, as in `p.lock.yaml` beside it. */
export function stemOf(path: string): string {
  return basename(path).replace(/\.(ya?ml|json)$/i, '') || basename(path);
}
