// The workflow files that `up` was given: loaded at the start, and looked at now and then for edits and new ones.

import { statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import { CliError, EXIT, type Io } from '../command.ts';
import { checkFile, type LoadedWorkflow, loadFile } from '../load-file.ts';
import { refuseMissing } from '../refuse-missing.ts';
import { renderReport } from '../render/diagnostics.ts';
import { findWorkflows, workflowsIn } from './find-workflows.ts';

const LOOK_EVERY_MS = 1_000;

export class WorkflowFiles {
  readonly #named: readonly string[];
  readonly #io: Io;
  readonly #warn: (warning: string) => void;
  readonly #stamps = new Map<string, string>();
  readonly #directories = new Map<string, string>();

  constructor(named: readonly string[], io: Io, warn: (warning: string) => void) {
    this.#named = named;
    this.#io = io;
    this.#warn = warn;
  }

  /** Of a file that was named, any mistake ends the command; one that was only found in a directory is left out. */
  load(): readonly LoadedWorkflow[] {
    const { files, directories } = findWorkflows(this.#named, this.#io.cwd);
    for (const each of directories) this.#directories.set(each, stampOf(each));
    const isNamed = (file: string) => !directories.some((each) => file.startsWith(`${each}/`));
    const loaded = files.flatMap((file) =>
      isNamed(file) ? [this.#required(file)] : (this.#read(file) ?? []),
    );
    if (loaded.length === 0) throw nothingToKeep(this.#named);
    refuseTwins(loaded);
    return loaded;
  }

  /** An edit that does not load is told, and the last good one stays. */
  follow(changed: (loaded: LoadedWorkflow) => Promise<void>): () => void {
    let isLooking = false;
    const look = async () => {
      if (isLooking) return;
      isLooking = true;
      try {
        for (const loaded of this.#changed()) await this.#take(loaded, changed);
      } finally {
        isLooking = false;
      }
    };
    const timer = setInterval(() => void look(), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }

  async #take(loaded: LoadedWorkflow, changed: (loaded: LoadedWorkflow) => Promise<void>): Promise<void> {
    const file = relative(this.#io.cwd, loaded.path);
    try {
      await changed(loaded);
      this.#io.stderr.write(`${shown(file)} was edited and is followed from now on\n`);
    } catch (error) {
      this.#warn(`${file} was edited, but ${(error as Error).message}; the last good one stays`);
    }
  }

  #changed(): LoadedWorkflow[] {
    for (const [directory, before] of this.#directories) {
      const now = stampOf(directory);
      if (now === before) continue;
      this.#directories.set(directory, now);
      for (const file of workflowsIn(directory)) if (!this.#stamps.has(file)) this.#stamps.set(file, '');
    }
    return [...this.#stamps].flatMap(([file, before]) => {
      const now = stampOf(file);
      if (now === before || now === '') return [];
      return this.#read(file) ?? [];
    });
  }

  #required(file: string): LoadedWorkflow {
    this.#stamps.set(file, stampOf(file));
    const loaded = loadFile(relative(this.#io.cwd, file), this.#io);
    const problem = cannotKeep(loaded, file);
    if (problem !== null) throw problem;
    return loaded;
  }

  #read(file: string): LoadedWorkflow | null {
    this.#stamps.set(file, stampOf(file));
    const shownFile = relative(this.#io.cwd, file);
    const { path, report, loaded } = checkFile(shownFile, { cwd: this.#io.cwd });
    if (loaded === null) this.#io.stderr.write(renderReport(report, this.#io));
    if (loaded?.kind !== 'workflow') {
      if (loaded === null) this.#warn(`${shownFile} is not followed as it is`);
      return null;
    }
    const workflow = { ...loaded, path, text: report.text };
    const problem = cannotKeep(workflow, shownFile);
    if (problem === null) return workflow;
    this.#warn(`${problem.message}; it is left out`);
    return null;
  }
}

function cannotKeep({ workflow, path }: LoadedWorkflow, file: string): CliError | null {
  if (workflow.frontEnd === 'job') {
    return new CliError({
      code: 'job-by-hand',
      message: `${shown(file)} is a job, which no file makes due, and schedules are not kept yet`,
      hint: `run it with \`sluice run ${shown(relative(dirname(dirname(path)), path))}\``,
    });
  }
  try {
    refuseMissing(workflow, file);
    return null;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

function refuseTwins(loaded: readonly LoadedWorkflow[]): void {
  const files = new Map<string, string>();
  for (const { workflow, path } of loaded) {
    const other = files.get(workflow.name);
    if (other !== undefined) {
      throw new CliError({
        code: 'same-name',
        message: `${shown(other)} and ${shown(path)} are both named '${shown(workflow.name)}'`,
        hint: 'give one of them another name:',
        exitCode: EXIT.invalid,
      });
    }
    files.set(workflow.name, path);
  }
}

function nothingToKeep(named: readonly string[]): CliError {
  return new CliError({
    code: 'no-workflows',
    message: `no workflow that can be kept in ${named.length === 0 ? 'this directory' : named.map(shown).join(', ')}`,
    hint: 'name a workflow file, or make one with `sluice init`',
  });
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
