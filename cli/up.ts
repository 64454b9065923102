// `sluice up [DIR|FILE…]`: control plane, watcher and runner in one process; drop a file and its results are made.

import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createApp } from '../api/app.ts';
import { readOwnerNote, takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import { neverFits } from '../runner/capacity.ts';
import { shown } from '../schema/diagnostic.ts';
import { LOCAL } from '../schema/words.ts';
import { poolsAsked } from './capacity-options.ts';
import { CliError, EXIT, type ExitCode, type Invocation, type Io, text, type Values } from './command.ts';
import { clientOf, createParts, ensureOwnFolder } from './control-plane.ts';
import type { LoadedWorkflow } from './load-file.ts';
import { explained } from './refused.ts';
import { renderState, renderWarning } from './render/run.ts';
import { jobsOf } from './run/jobs.ts';
import { openMachineBase } from './run/machine.ts';
import { openState } from './run/open-state.ts';
import { readSecrets, refuseWithoutSecrets } from './secrets.ts';
import { addressOf, startServing } from './serve/serving.ts';
import { Keeper } from './up/keeper.ts';
import { WorkflowFiles } from './up/workflow-files.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const address = addressOf(values);
  const warn = (warning: string) => void io.stderr.write(renderWarning(warning, io));
  const files = new WorkflowFiles(positionals, io, warn);
  const secretOf = readSecrets(io, text(values, 'secrets'));
  const loaded = files.load();
  for (const { workflow, path } of loaded) refuseWithoutSecrets(workflow, relative(io.cwd, path), secretOf);
  const project = projectOf(loaded);
  const own = ensureOwnFolder(project);
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner === null) throw alreadyUp(own);
  const closing: (() => Promise<void> | void)[] = [() => owner.release()];
  try {
    // `run` must not believe what it wrote before this process changes things.
    rmSync(join(own, 'clean'), { recursive: true, force: true });
    const db = await openState(own, io, warn);
    closing.push(() => db.close());
    const parts = createParts(db, io);
    const app = createApp(parts);
    const client = clientOf(app);
    const base = await openMachineBase(own, secretOf);
    closing.push(() => base.close());
    const prefix = (name: string) => (loaded.length > 1 ? `${name}/` : '');
    const capacity = capacityOf(loaded, values);
    for (const { workflow } of loaded)
      for (const stage of workflow.stages) {
        const problem = neverFits(stage, capacity);
        if (problem !== null) warn(`${problem}; it waits for ever`);
      }
    const keeper = new Keeper({
      ...{ client, base, project, own, io, warn, capacity },
      report: (result, workflow) =>
        void io.stderr.write(renderState({ ...result, name: prefix(workflow) + result.name }, io)),
    });
    await keeper.start();
    for (const each of loaded) await keeper.keep(each);
    const serving = await startServing({
      ...{ app, parts, address, own, url: join(own, 'state.db'), io },
      asked: () => keeper.poke(),
    });
    closing.push(() => serving.stop());
    const stopListening = onSignals(keeper);
    closing.push(stopListening);
    io.stderr.write(`sluice is listening on ${serving.url}\n`);
    const working = keeper.run();
    // What goes wrong in the first look must not be waited for.
    await Promise.race([keeper.ready(), working]);
    tellWatching(loaded, io);
    const stopFollowing = files.follow((changed) => keeper.keep(changed));
    closing.push(stopFollowing);
    await working;
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    for (const each of closing.reverse()) await each();
  }
}

function tellWatching(loaded: readonly LoadedWorkflow[], io: Io): void {
  const names = loaded.map(({ workflow, path }) => {
    const folder = relative(io.cwd, dirname(path)) || '.';
    return `${shown(workflow.name)} in ${shown(folder)}`;
  });
  io.stderr.write(`watching ${names.join(', ')}; drop files there, end with Ctrl-C\n`);
}

/** The first signal lets what runs end, the second ends it. */
function onSignals(keeper: Keeper): () => void {
  let isFirst = true;
  const onSignal = () => {
    if (isFirst) keeper.stop();
    else keeper.stopAtOnce();
    isFirst = false;
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

function projectOf(loaded: readonly LoadedWorkflow[]): string {
  const projects = [...new Set(loaded.map(({ path }) => projectRootOf(dirname(path))))];
  if (projects.length === 1) return projects[0]!;
  throw new CliError({
    code: 'several-projects',
    message: `these workflows belong to ${projects.length} projects: ${projects.map(shown).join(', ')}`,
    hint: 'start one `sluice up` in each, with a --port of its own',
  });
}

function capacityOf(loaded: readonly LoadedWorkflow[], values: Values) {
  const here = loaded.map(({ workflow: { targets } }) => targets[LOCAL]);
  return {
    cores: jobsOf(text(values, 'jobs')) ?? availableParallelism(),
    memoryBytes: null,
    gpu: Math.max(0, ...here.map((target) => target?.gpu ?? 0)),
    pools: poolsAsked(values),
  };
}

function alreadyUp(own: string): CliError {
  const url = readOwnerNote(join(own, 'owner.json'))?.url;
  return new CliError({
    code: 'already-running',
    message: `another sluice is working in this project${url === undefined ? '' : `, on ${url}`}`,
    hint: 'ask it with `sluice status`, or stop it first',
    exitCode: EXIT.locked,
  });
}
