// `sluice debug FILE --stage S [--job J]`: what a state's command was, how it ended, what it said, and how to run it by
// hand.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { shown, suggest } from '../schema/diagnostic.ts';
import { parseLockFile } from '../schema/lock-file.ts';
import type { EntityId } from '../schema/words.ts';
import type { Stage } from '../schema/workflow.ts';
import { askedState } from './asked-state.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, text } from './command.ts';
import { type LoadedWorkflow, loadFile, stemOf } from './load-file.ts';
import { readEventRuns } from './log/event-runs.ts';
import { renderDebug } from './render/debug.ts';
import { nameOf } from './run/results.ts';
import { readWork, workDirs } from './work-dirs.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const file = positionals[0]!;
  const written = text(values, 'stage');
  if (written === undefined) {
    throw new CliError({
      code: 'missing-argument',
      message: 'debug needs --stage',
      hint: `sluice debug ${shown(file)} --stage STAGE`,
    });
  }
  const loaded = loadFile(file, io);
  const asked = askedState(written, loaded.workflow.stages);
  const { stage } = asked;
  const entity = asked.entity ?? chosen(loaded, stage, text(values, 'job'));
  const work = readWork(workDirs(loaded)(stage.id, entity));
  const name = nameOf(stage, entity);
  if (work === null) {
    throw new CliError({
      code: 'no-work-dir',
      message: `${name} has no work directory: it never ran here, or it was cleaned away`,
      hint: `sluice run ${shown(file)} --stage '${shown(stage.id)}' makes one if it is stale; add --force if it is fresh`,
    });
  }
  const root = dirname(loaded.path);
  const cwd = (stage.cwd ?? (stage.fanOut === null ? 'project' : 'work')) === 'work' ? work.workDir : root;
  const report = { workflow: loaded.workflow.name, stage: stage.id, entity, name, cwd, ...work };
  io.stdout.write(renderDebug(report, io, flag(values, 'json')));
  return EXIT.done;
}

/** The job that was named, or the only one that can be meant: of one, or of one that failed. */
function chosen(loaded: LoadedWorkflow, stage: Stage, job: string | undefined): EntityId {
  if (stage.variables.length === 0 && stage.fanOut === null) {
    if (job === undefined) return '' as EntityId;
    throw new CliError({
      code: 'bad-job',
      message: `stage '${shown(stage.id)}' has no jobs, only one state`,
      hint: 'leave out --job',
    });
  }
  const known = [...entitiesOf(loaded, stage)].sort();
  if (job !== undefined) return namedJob(known, job);
  const workDirOf = workDirs(loaded);
  const tried = known.flatMap((entity) => {
    const work = readWork(workDirOf(stage.id, entity), 0);
    return work === null ? [] : [{ entity, failed: work.exitCode !== 0 }];
  });
  const failed = tried.filter((each) => each.failed);
  const candidates = failed.length > 0 ? failed : tried;
  if (candidates.length === 1) return candidates[0]!.entity as EntityId;
  const names = candidates.map(({ entity }) => shown(entity));
  const few = `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  throw new CliError({
    code: 'which-job',
    message: `stage '${shown(stage.id)}' has ${names.length} jobs ${failed.length > 0 ? 'that failed' : 'with a work directory'}${names.length > 0 ? `: ${few}` : ''}`,
    hint: names.length > 0 ? `choose one: --job ${names[0]}` : 'run the stage first',
  });
}

/** By its entity, or by the name of its file with or without the extension. */
function namedJob(known: readonly string[], job: string): EntityId {
  const exact = known.find((entity) => entity === job);
  const loose = known.filter(
    (entity) => basename(entity) === job || stripped(basename(entity)) === job || entity === stripped(job),
  );
  const found = exact ?? (loose.length === 1 ? loose[0] : undefined);
  if (found !== undefined) return found as EntityId;
  throw new CliError({
    code: loose.length > 1 ? 'which-job' : 'unknown-job',
    message:
      loose.length > 1
        ? `--job ${shown(job)} may be ${loose.map(shown).join(' or ')}`
        : `there is no job '${shown(job)}'`,
    hint: loose.length > 1 ? 'write it in full' : suggest(job, known),
  });
}

function stripped(name: string): string {
  return name.replace(/\.[^.]+$/, '');
}

/** From the files beside the workflow, so that it works while a run is going on and when the database is gone. */
function entitiesOf({ path }: LoadedWorkflow, stage: Stage): ReadonlySet<string> {
  const beside = (end: string) => {
    const file = join(dirname(path), `${stemOf(path)}${end}`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const told = readEventRuns(beside('.events.jsonl')).runs.flatMap(({ events }) =>
    events.flatMap((event) => ('stage' in event && event.stage === stage.id ? [event.entity ?? ''] : [])),
  );
  const lock = parseLockFile(beside('.lock.yaml'));
  const locked = lock.ok ? [...(lock.lock.stages.get(stage.id)?.entities.keys() ?? [])] : [];
  return new Set([...told, ...locked]);
}
