// Notes what is in the output directories of states that were just made, so that a later check can name files.

import { dirname, join } from 'node:path';
import { projectRootOf } from '../../host/project-root.ts';
import { type StateFiles, stateFiles } from '../../runner/state-files.ts';
import type { EntityId } from '../../schema/words.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import { keepTree, readTree } from './trees.ts';
import { contextFor } from './verify.ts';

export function keepTrees(
  states: readonly StateFiles[],
  { loaded }: { readonly loaded: LoadedWorkflow },
): void {
  const directories = states.flatMap(({ outs }) =>
    outs.filter(({ directory, remote }) => directory && remote === null).map(({ path }) => path),
  );
  if (directories.length === 0) return;
  const own = join(projectRootOf(dirname(loaded.path)), '.sluice');
  // With the cache of the run: what it has read and kept is not read again.
  const context = contextFor(loaded, own, 'stat-cache');
  for (const directory of directories) {
    const tree = readTree(directory, context);
    if (tree !== null) keepTree(own, directory, tree);
  }
}

/** The files of states by name, for whoever has only the names. */
export function filesOf(
  loaded: LoadedWorkflow,
  states: readonly { readonly stage: string; readonly entity: string }[],
): readonly StateFiles[] {
  const { workflow } = loaded;
  const context = { workflow, root: dirname(loaded.path), list: () => [] };
  return states.flatMap(({ stage: id, entity }) => {
    const stage = workflow.stages.find((each) => each.id === id);
    const isKept = stage?.outs.some(({ path }) => path.endsWith('/')) && stage.fanOut === null;
    return isKept ? [stateFiles(stage!, entity as EntityId, context)] : [];
  });
}
