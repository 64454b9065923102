// `sluice log FILE`: what happened in the last run or in all of them; `--compact` drops old runs.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { writeFileAtomic } from '../host/atomic-write.ts';
import { answerOf } from '../host/client.ts';
import { takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import { shown } from '../schema/diagnostic.ts';
import type { EventAnswer } from '../schema/read-answers.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, text } from './command.ts';
import { reach } from './control-plane.ts';
import { loadFile, stemOf } from './load-file.ts';
import { compactRuns, type EventRuns, readEventRuns } from './log/event-runs.ts';
import { isElsewhere, isFile, refuseWithoutDatabase } from './look/reach-workflow.ts';
import { explained } from './refused.ts';
import { renderCompacted, renderLog, renderToldEvents } from './render/log.ts';
import { orExplain } from './write-error.ts';

const RUNS_KEPT = 10;

export async function run(invocation: Invocation): Promise<ExitCode> {
  const { values, positionals, io } = invocation;
  const keep = keepOf(text(values, 'keep'), flag(values, 'compact'));
  const file = positionals[0]!;
  if (isElsewhere(values) || !isFile(file, io)) return fromControlPlane(invocation);
  const path = resolve(io.cwd, file);
  const log = join(dirname(path), `${stemOf(path)}.events.jsonl`);
  const json = flag(values, 'json');
  if (flag(values, 'compact')) {
    const { kept, dropped } = await alone(dirname(path), () => compact(log, readLog(log, path, file), keep));
    io.stdout.write(renderCompacted({ log, kept, dropped }, json));
    return EXIT.done;
  }
  const { runs, skipped } = readLog(log, path, file);
  const shownRuns = flag(values, 'all') ? runs : runs.slice(-1);
  io.stdout.write(renderLog({ runs: shownRuns, skipped }, io, json));
  return EXIT.done;
}

function readLog(log: string, path: string, file: string): EventRuns {
  if (existsSync(log)) return readEventRuns(readFileSync(log, 'utf8'));
  if (!existsSync(path)) {
    throw new CliError({
      code: 'missing-file',
      message: `${shown(file)} does not exist`,
      hint: 'name a workflow file',
    });
  }
  throw new CliError({
    code: 'no-events',
    message: `${shown(file)} was never run here: there is no ${shown(log)}`,
    hint: `sluice run ${shown(file)}`,
  });
}

function compact(log: string, runs: EventRuns, keep: number): { kept: number; dropped: number } {
  const { text: rest, kept, dropped } = compactRuns(runs, keep);
  if (dropped > 0) orExplain(() => writeFileAtomic(log, rest));
  return { kept, dropped };
}

/** A run appends to the same file: what it writes meanwhile would be lost. */
async function alone<Result>(workflowDir: string, work: () => Result): Promise<Result> {
  const own = join(projectRootOf(workflowDir), '.sluice');
  const owner = existsSync(own) ? takeOwnership(join(own, 'owner.db')) : undefined;
  if (owner === null) {
    throw new CliError({
      code: 'run-in-progress',
      message: 'another sluice is working here and writes to the log',
      hint: 'wait for it to end and try again',
      exitCode: EXIT.locked,
    });
  }
  try {
    return work();
  } finally {
    owner?.release();
  }
}

/** A control plane has the events of the database, of which the file is only the runs' part (SEMANTICS 26). */
async function fromControlPlane({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const named = positionals[0]!;
  if (flag(values, 'compact')) {
    throw new CliError({
      code: 'bad-option',
      message: '--compact is about the file of a workflow, not about a control plane',
      hint: 'name the file, and leave out --api and --db',
    });
  }
  if (!isElsewhere(values)) refuseWithoutDatabase(io.cwd);
  const workflow = isFile(named, io) ? loadFile(named, io).workflow.name : named;
  const { client, close } = await reach(values, io);
  try {
    await answerOf(
      client.api.workflows[':name{[^]+}'].$get({ param: { name: encodeURIComponent(workflow) } }),
    );
    const events: EventAnswer[] = [];
    for (let after = 0; ; ) {
      const query = { workflow, after: String(after), limit: '1000' };
      const page = (await answerOf(client.api.events.$get({ query }))) as EventAnswer[];
      events.push(...page);
      if (page.length < 1_000) break;
      after = page.at(-1)!.id;
    }
    const begins = events.findLastIndex(({ event }) => event === 'run_started');
    const told = flag(values, 'all') ? events : events.slice(Math.max(0, begins));
    io.stdout.write(renderToldEvents(told, io, flag(values, 'json')));
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

function keepOf(written: string | undefined, compacts: boolean): number {
  if (written === undefined) return RUNS_KEPT;
  const keep = Number(written);
  if (compacts && Number.isInteger(keep) && keep > 0) return keep;
  throw new CliError({
    code: 'bad-keep',
    message: compacts ? `--keep ${shown(written)} is not a number of runs` : '--keep goes with --compact',
    hint: 'write for example --compact --keep 10',
  });
}
