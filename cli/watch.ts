// `sluice watch --api URL`: looks at the files of one machine for a control plane elsewhere, until it is stopped.

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { takeOwnership } from '../host/owner.ts';
import { shown } from '../schema/diagnostic.ts';
import {
  CliError,
  EXIT,
  type ExitCode,
  type Invocation,
  type Io,
  list,
  text,
  type Values,
} from './command.ts';
import { reach } from './control-plane.ts';
import { explained } from './refused.ts';
import { renderWarning } from './render/run.ts';
import { readRoots } from './root-options.ts';
import { TARGET } from './run/look.ts';
import { WatchDaemon } from './watch/watch-daemon.ts';

export async function run({ values, io }: Invocation): Promise<ExitCode> {
  const api = text(values, 'api');
  if (api === undefined) throw withoutApi();
  const target = text(values, 'target') ?? TARGET;
  const roots = readRoots(list(values, 'root'), io);
  const { client } = await reach(values, io);
  const own = resolve(io.cwd, text(values, 'state') ?? defaultState(api, target, io));
  const daemon = new WatchDaemon({
    ...{ client, api, target, roots, own },
    watcher: text(values, 'name') ?? `${hostname()}-${target}`,
    warn: (warning) => void io.stderr.write(renderWarning(warning, io)),
    say: (line) => void io.stderr.write(`${line}\n`),
  });
  // Before anything is kept on disk, so that a mistake leaves nothing behind.
  const first = await daemon.ask().catch((error: unknown) => {
    throw explained(error);
  });
  const owner = ownState(own, values);
  const stop = () => daemon.stop();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await daemon.run(first);
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    owner.release();
  }
}

/** By control plane and target: one machine may look for several. */
function defaultState(api: string, target: string, io: Io): string {
  const base =
    io.env.XDG_STATE_HOME ?? (io.env.HOME === undefined ? null : join(io.env.HOME, '.local', 'state'));
  if (base === null) {
    throw new CliError({
      code: 'no-state',
      message: 'there is no home directory to keep in what was told',
      hint: 'say where with --state DIR',
    });
  }
  const digest = createHash('sha256').update(`${api}\0${target}`).digest('hex').slice(0, 12);
  return join(base, 'sluice', `watch-${digest}`);
}

function ownState(own: string, values: Values) {
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner !== null) return owner;
  throw new CliError({
    code: 'already-running',
    message: `another \`sluice watch\` keeps ${shown(own)}`,
    hint:
      text(values, 'state') === undefined
        ? 'one is enough for a target of a control plane; stop it first'
        : 'stop it first, or name another directory with --state',
    exitCode: EXIT.locked,
  });
}

function withoutApi(): CliError {
  return new CliError({
    code: 'no-api',
    message: '`sluice watch` looks for a control plane elsewhere, and --api does not say where that is',
    hint: 'add --api URL --token-file F; on a single machine `sluice up` watches by itself',
  });
}
