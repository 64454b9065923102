// `sluice serve`: the control plane as a server on this machine, on an embedded file or a database by URL.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../api/app.ts';
import { takeOwnership } from '../host/owner.ts';
import { projectRootOf } from '../host/project-root.ts';
import { CliError, EXIT, type ExitCode, type Invocation, text } from './command.ts';
import { createParts, ensureOwnFolder, openOrExplain } from './control-plane.ts';
import { addressOf, startServing } from './serve/serving.ts';

export async function run({ values, io }: Invocation): Promise<ExitCode> {
  const address = addressOf(values);
  const own = ensureOwnFolder(projectRootOf(io.cwd));
  const owner = takeOwnership(join(own, 'owner.db'));
  if (owner === null) throw alreadyOwned();
  const url = text(values, 'db') ?? join(own, 'state.db');
  // `run` must not believe what it wrote before others could change things here.
  rmSync(join(own, 'clean'), { recursive: true, force: true });
  const parts = createParts(await openOrExplain(url, io), io);
  try {
    const serving = await startServing({ app: createApp(parts), parts, address, own, url, io });
    // Before it is announced: whoever reads that it listens may end it at once.
    const ended = untilSignal();
    io.stderr.write(`sluice is listening on ${serving.url}\n`);
    if (serving.tokenFile !== null) io.stderr.write(`the admin token is in ${serving.tokenFile}\n`);
    await ended;
    await serving.stop();
    return EXIT.done;
  } finally {
    await parts.db.close();
    owner.release();
  }
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

function alreadyOwned(): CliError {
  return new CliError({
    code: 'already-running',
    message: 'another sluice is working in this project',
    hint: 'stop it first, or start this one in another directory',
    exitCode: EXIT.locked,
  });
}
