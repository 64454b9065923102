// `sluice clean FILE`: removes the work directories of states that are settled; those of failures stay for `debug`.

import { existsSync, lstatSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Refused } from '../host/client.ts';
import { projectRootOf } from '../host/project-root.ts';
import { removeWorkDir } from '../runner/work-dir.ts';
import type { StateAnswer } from '../schema/read-answers.ts';
import { isSettled } from '../schema/status-words.ts';
import { EXIT, type ExitCode, flag, type Invocation } from './command.ts';
import { reach } from './control-plane.ts';
import { loadFile } from './load-file.ts';
import { explained } from './refused.ts';
import { renderCleaned } from './render/clean.ts';
import { Ask } from './run/ask.ts';
import { workDirs } from './work-dirs.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const loaded = loadFile(positionals[0]!, io);
  const json = flag(values, 'json');
  const project = projectRootOf(dirname(loaded.path));
  if (!existsSync(join(project, '.sluice', 'state.db'))) {
    io.stdout.write(renderCleaned({ removed: 0, bytes: 0, kept: 0, stuck: [] }, json));
    return EXIT.done;
  }
  const reached = await reach({}, io, dirname(loaded.path));
  try {
    const states = await statesOf(new Ask(reached.client, loaded.workflow.name));
    const workDirOf = workDirs(loaded);
    const found = states
      .map(({ stage, entity, status }) => ({ stage, status, workDir: workDirOf(stage, entity) }))
      .filter(({ workDir }) => existsSync(workDir));
    const settled = found.filter(({ status }) => isSettled(status));
    const kept = flag(values, 'keep-latest') ? latestOfEach(settled) : new Set<string>();
    const chosen = settled.filter(({ workDir }) => !kept.has(workDir)).map(({ workDir }) => workDir);
    const cleaned = removeAll(chosen);
    io.stdout.write(renderCleaned({ ...cleaned, kept: found.length - cleaned.removed }, json));
    return cleaned.stuck.length === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}

/** A workflow that nobody has registered has left nothing. */
async function statesOf(ask: Ask): Promise<readonly StateAnswer[]> {
  try {
    return await ask.states({});
  } catch (error) {
    if (error instanceof Refused && error.code === 'unknown-workflow') return [];
    throw error;
  }
}

interface Found {
  readonly stage: string;
  readonly workDir: string;
}

function latestOfEach(found: readonly Found[]): ReadonlySet<string> {
  const latest = new Map<string, { readonly workDir: string; readonly atMs: number }>();
  for (const { stage, workDir } of found) {
    const atMs = statSync(workDir).mtimeMs;
    if ((latest.get(stage)?.atMs ?? -1) < atMs) latest.set(stage, { workDir, atMs });
  }
  return new Set([...latest.values()].map(({ workDir }) => workDir));
}

function removeAll(workDirsToGo: readonly string[]) {
  let [removed, bytes] = [0, 0];
  const stuck: string[] = [];
  for (const workDir of workDirsToGo) {
    const size = sizeOf(workDir);
    if (!removeWorkDir(workDir)) {
      stuck.push(workDir);
      continue;
    }
    removed += 1;
    bytes += size;
    removeIfEmpty(dirname(workDir));
  }
  return { removed, bytes, stuck };
}

function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** The bucket of a hash; others may be in it. */
function removeIfEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
