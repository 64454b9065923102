// `sluice lock FILE`: takes what is on disk into the lock file, running nothing; `--verify` compares the two.

import { dirname, join } from 'node:path';
import { loadBlake3 } from '../host/blake3.ts';
import { projectRootOf } from '../host/project-root.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation } from './command.ts';
import { type LoadedWorkflow, loadFile } from './load-file.ts';
import { adoptOutputs } from './lock/adopt.ts';
import { verifyOutputs } from './lock/verify.ts';
import { lookHere } from './look/look-here.ts';
import { explained } from './refused.ts';
import { renderAdopted, renderVerified } from './render/lock.ts';
import type { LockRecords } from './run/lock-records.ts';
import { lockOf, lockPathOf } from './run/look.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const file = positionals[0]!;
  const loaded = loadFile(file, io);
  const json = flag(values, 'json');
  if (flag(values, 'verify')) {
    const verified = await verifyOutputs(loaded, readLock(loaded, file));
    io.stdout.write(renderVerified({ name: loaded.workflow.name, file, stages: verified }, io, json));
    const isGood = verified.every(({ outs }) => outs.every(({ ok }) => ok));
    return isGood ? EXIT.done : EXIT.failed;
  }
  const here = await lookHere(loaded, { io });
  if (here === null) throw busy();
  try {
    const adopted = await adoptOutputs(here);
    const isOff = !loaded.workflow.policy.lockFile;
    io.stdout.write(
      renderAdopted(
        { name: loaded.workflow.name, lockFile: lockPathOf(loaded.path), isOff, ...adopted },
        io,
        json,
      ),
    );
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await here.close();
  }
}

function readLock(loaded: LoadedWorkflow, file: string): LockRecords {
  const path = lockPathOf(loaded.path);
  const project = projectRootOf(dirname(loaded.path));
  const lock = lockOf(loaded, { project, own: join(project, '.sluice'), blake3: loadBlake3() });
  if (lock.exists) return lock;
  throw new CliError({
    code: 'no-lock-file',
    message: `there is no lock file to verify: ${shown(path)} does not exist`,
    hint: `sluice run ${shown(file)} makes one; sluice lock ${shown(file)} takes what is on disk as it is`,
  });
}

function busy(): CliError {
  return new CliError({
    code: 'run-in-progress',
    message: 'another sluice is working here',
    hint: 'wait for it to end and try again',
    exitCode: EXIT.locked,
  });
}
