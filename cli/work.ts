// `sluice work`: a runner of its own, on any machine, for one control plane and one target.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeFileAtomic } from '../host/atomic-write.ts';
import { answerOf, type Client } from '../host/client.ts';
import { takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import { steadyFetch } from '../host/steady-fetch.ts';
import { openLogBook } from '../runner/log-book.ts';
import { ResultJournal } from '../runner/result-journal.ts';
import { shown } from '../schema/diagnostic.ts';
import { LOCAL } from '../schema/words.ts';
import { capacityAsked, labelsAsked } from './capacity-options.ts';
import {
  CliError,
  EXIT,
  type ExitCode,
  flag,
  type Invocation,
  type Io,
  list,
  text,
  type Values,
} from './command.ts';
import { overNetwork, readToken } from './control-plane.ts';
import { durationMs } from './duration-option.ts';
import { explained } from './refused.ts';
import { renderWarning } from './render/run.ts';
import { renderPosted, renderWorking } from './render/work.ts';
import { readRoots } from './root-options.ts';
import { openMachineBase } from './run/machine.ts';
import { readSecrets } from './secrets.ts';
import { readAllowed } from './work/allowed.ts';
import { Worker } from './work/worker.ts';

export async function run({ values, io }: Invocation): Promise<ExitCode> {
  const asked = readAsked(values, io);
  const warn = (warning: string) => void io.stderr.write(renderWarning(warning, io));
  const own = join(projectRootOf(io.cwd), '.sluice', 'runners', encodeURIComponent(asked.target));
  mkdirSync(own, { recursive: true });
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner === null) throw alreadyHere(asked.target);
  const closing: (() => Promise<void> | void)[] = [() => owner.release()];
  try {
    const { client, hurry } = steadyClient(asked, io);
    const base = await openMachineBase(own, readSecrets(io, text(values, 'secrets')));
    closing.push(() => base.close());
    const results = new ResultJournal(join(own, 'results'), warn);
    closing.push(() => results.close());
    const worker = new Worker({
      ...asked,
      ...{
        client,
        base,
        own,
        results,
        logs: openLogBook(join(own, 'logs')),
        warn,
        say: (line: string) => void io.stderr.write(`${line}\n`),
        hurry,
        runner: nameIn(own, asked.target),
        env: io.env,
      },
      posted: (performed, answer) => void io.stderr.write(renderPosted(performed, answer, io)),
    });
    closing.push(onSignals(worker, io));
    await tellTarget(client, asked.target, warn);
    io.stderr.write(renderWorking({ ...asked, runner: nameIn(own, asked.target) }, io));
    const waiting = await worker.run();
    if (waiting > 0) warn(`${waiting} results wait in ${own} and are posted at the next start`);
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    for (const each of closing.reverse()) await each();
  }
}

function readAsked(values: Values, io: Io) {
  const url = text(values, 'api');
  if (url === undefined || !URL.canParse(url)) {
    throw new CliError({
      code: 'no-api',
      message:
        url === undefined ? 'work needs a control plane to work for' : `--api ${shown(url)} is not a URL`,
      hint: 'name it with --api URL, or use `sluice up`, which is all in one process',
    });
  }
  return {
    url,
    token: readToken(values, io),
    target: text(values, 'target') ?? (LOCAL as string),
    capacity: capacityAsked(values),
    labels: labelsAsked(values),
    roots: readRoots(list(values, 'root'), io),
    allowed: readAllowed(list(values, 'allow')),
    leaseSeconds: leaseAsked(text(values, 'lease') ?? '2m'),
    denyPrivate: flag(values, 'http-deny-private'),
  };
}

function leaseAsked(written: string): number {
  const seconds = durationMs('--lease', written) / 1_000;
  if (seconds >= 1 && seconds <= 3_600) return seconds;
  throw new CliError({
    code: 'bad-lease',
    message: `--lease ${shown(written)} is not between a second and an hour`,
    hint: 'so long a control plane may be away before what runs is ended; so long a dead machine keeps its work',
  });
}

const FIRST_ANSWER_MS = 60_000;

/** Heartbeats and claims are not repeated by themselves: the first come again anyway, the second may have got something. */
function steadyClient({ url, token, leaseSeconds }: ReturnType<typeof readAsked>, io: Io) {
  const say = (line: string) => void io.stderr.write(`${line}\n`);
  const steady = steadyFetch({
    fetch: globalThis.fetch,
    timeoutMs: (to) => (to.endsWith('/heartbeat') ? (leaseSeconds * 1_000) / 5 : FIRST_ANSWER_MS),
    isOnce: (to) => to.endsWith('/api/work/heartbeat') || to.endsWith('/api/work/claim'),
    pause: (ms, signal) => pause(ms, undefined, { signal }),
    random: Math.random,
    away: (why) => say(`the control plane at ${url} is away (${why}); trying again, what runs goes on`),
    back: (seconds) => say(`the control plane is back after ${seconds} s`),
  });
  return { client: overNetwork(url, token, steady.fetch), hurry: () => steady.hurry() };
}

/** The same at every start, so that it can say what it held before; no other has it. */
function nameIn(own: string, target: string): string {
  const file = join(own, 'name');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    const name = `${hostname()}/${target}/${randomBytes(3).toString('hex')}`.slice(-200);
    writeFileAtomic(file, `${name}\n`);
    return name;
  }
}

/** Workflows may be registered later, so it is no mistake; a mistyped name is only seen here. */
async function tellTarget(client: Client, target: string, warn: (warning: string) => void): Promise<void> {
  const { workflows } = await answerOf(client.api.watch.$get({ query: { target } }));
  if (workflows.length > 0) return;
  const known = await answerOf(client.api.workflows.$get());
  const targets = [...new Set(known.map((each) => each.target))].map((each) => `'${shown(each)}'`);
  const others =
    targets.length === 0
      ? 'there are no workflows yet'
      : `workflows are registered for ${targets.join(', ')}`;
  warn(`no workflow has anything on the target '${shown(target)}' (${others}); waiting for one`);
}

/** The first signal lets what runs end, the second ends it. */
function onSignals(worker: Worker, io: Io): () => void {
  let isFirst = true;
  const onSignal = () => {
    if (isFirst) io.stderr.write('stopping: what runs may end; once more ends it at once\n');
    if (isFirst) worker.stop();
    else worker.stopAtOnce();
    isFirst = false;
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

function alreadyHere(target: string): CliError {
  return new CliError({
    code: 'already-running',
    message: `another \`sluice work\` for the target '${shown(target)}' was started in this directory`,
    hint: 'stop it first, or start this one in another directory: each keeps its own results and logs',
    exitCode: EXIT.locked,
  });
}
