// Tells the control plane in this process how one workflow stands on disk: its definition, its files, and the records
// that its lock file brings. What `run` does before it decides anything, and all that `status` needs to answer truly.

import { dirname, join } from 'node:path';
import type { Blake3Implementation } from '../../host/blake3.ts';
import { answerOf, type Client } from '../../host/client.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { Json } from '../../schema/words.ts';
import { type Report, type ReportContext, reportAll } from '../../watcher/report.ts';
import { Reported } from '../../watcher/reported.ts';
import { CliError } from '../command.ts';
import { type LoadedWorkflow, stemOf } from '../load-file.ts';
import { importEntries } from './lock-entries.ts';
import { type LockPlace, LockRecords } from './lock-records.ts';
import { fileNameFor, type Machine } from './machine.ts';

/** As runs and looks call themselves and this machine. */
export const RUNNER = 'run';
export const TARGET = 'local';

export interface Place {
  readonly loaded: LoadedWorkflow;
  readonly project: string;
  /** `.sluice/` of the project. */
  readonly own: string;
  /** The workflow's directory. */
  readonly root: string;
  readonly set: Readonly<Record<string, Json>>;
  readonly client: Client;
  readonly machine: Machine;
  readonly lock: LockRecords;
}

export interface Watching extends ReportContext {
  readonly patterns: readonly { readonly pattern: string; readonly glob: string | null }[];
}

export async function register({ loaded, root, set, client }: Place): Promise<void> {
  const given = Object.keys(set).length === 0 ? {} : { set: JSON.stringify(set) };
  await answerOf(
    client.api.workflows[':name{[^]+}'].$put(
      {
        param: { name: encodeURIComponent(loaded.workflow.name) },
        query: { root, target: TARGET, ...given },
      },
      { init: { body: loaded.text } },
    ),
  );
}

/** What the control plane wants to know of this machine, and what it has been told before. */
export async function watchingOf(place: Place): Promise<Watching> {
  const { client, machine, root, loaded } = place;
  const { database, workflows } = await answerOf(client.api.watch.$get({ query: { target: TARGET } }));
  const mine = workflows.find(({ workflow }) => workflow === loaded.workflow.name);
  const reported = new Reported(reportedFile(place), { database, definition: mine?.definition ?? '' });
  const patterns = mine?.patterns ?? [];
  return { ...machine, client, target: TARGET, watcher: RUNNER, root, reported, patterns };
}

export function reportedFile({ own, project, loaded }: Pick<Place, 'own' | 'project' | 'loaded'>): string {
  return join(own, 'reported', fileNameFor(project, loaded.path));
}

/** How many observations were news. */
export async function look(watching: Watching): Promise<number> {
  const { problems, sent } = await reportAll(watching.patterns, watching);
  refuseUnusable(problems);
  return sent;
}

export function refuseUnusable(problems: Report['problems']): void {
  if (problems.length > 0) throw unusable(problems[0]!);
}

/** A lock file whose bytes are not the ones we wrote last came from elsewhere (SEMANTICS 1). */
export async function importLock(place: Place): Promise<void> {
  const { lock, client, root, machine, loaded } = place;
  if (!lock.exists || lock.isOurs()) return;
  const context = { client, workflow: loaded.workflow.name, root, hash: machine.hash };
  await importEntries(lock.entries(), context);
}

export function lockPathOf(workflowFile: string): string {
  return join(dirname(workflowFile), `${stemOf(workflowFile)}.lock.yaml`);
}

export interface LockOptions extends Pick<LockPlace, 'damaged'> {
  readonly project: string;
  /** `.sluice/` of the project. */
  readonly own: string;
  readonly blake3: Blake3Implementation;
}

export function lockOf(
  { path, workflow }: LoadedWorkflow,
  { project, own, blake3, damaged }: LockOptions,
): LockRecords {
  const note = join(own, 'locks', fileNameFor(project, path));
  return new LockRecords({ path: lockPathOf(path), note, workflow, blake3, damaged });
}

export function unusable({ path, reason }: { readonly path: string; readonly reason: string }): CliError {
  return new CliError({
    code: 'unusable-path',
    message: `${shown(path)}: ${reason}`,
    hint: 'mend it or move it out of the way, and run again',
  });
}
