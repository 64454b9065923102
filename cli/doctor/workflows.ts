// The workflow files here: whether they load, and how many directories keeping them would watch.

import { dirname, relative } from 'node:path';
import { DISK, type Disk } from '../../host/disk.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { shown } from '../../schema/diagnostic.ts';
import { placePattern } from '../../schema/discovery/place.ts';
import { parsePattern } from '../../schema/pattern.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { scanInSlices } from '../../watcher/scan.ts';
import type { Io } from '../command.ts';
import { checkFile } from '../load-file.ts';
import { findWorkflows } from '../up/find-workflows.ts';
import { type Finding, fail, ok } from './finding.ts';

export interface CheckedWorkflows {
  readonly finding: Finding;
  readonly directories: number;
  /** Where the workflows are. */
  readonly roots: readonly string[];
}

export async function checkWorkflows(named: readonly string[], io: Io): Promise<CheckedWorkflows> {
  const { files } = findWorkflows(named, io.cwd);
  const checked = files.map((file) => ({ file, loaded: checkFile(file, { cwd: io.cwd }).loaded }));
  const invalid = checked
    .filter(({ loaded }) => loaded === null)
    .map(({ file }) => shown(relative(io.cwd, file)));
  const watched = new Set<string>();
  const roots = new Set<string>();
  for (const { file, loaded } of checked) {
    if (loaded?.kind !== 'workflow') continue;
    roots.add(dirname(file));
    await look(loaded.workflow, dirname(file), watched);
  }
  const finding =
    files.length === 0
      ? ok('workflows', 'there are none here')
      : invalid.length > 0
        ? fail('workflows', `${invalid.join(', ')} cannot be loaded`, `sluice validate ${invalid.join(' ')}`)
        : ok('workflows', `${files.length === 1 ? '1 loads' : `all ${files.length} load`}`);
  return { finding, directories: watched.size, roots: [...roots] };
}

/** Looks as `up` does, and notes where: each directory that is listed, or in which something is looked for. */
async function look({ stages, watch }: Workflow, root: string, watched: Set<string>): Promise<void> {
  const disk: Disk = {
    ...DISK,
    list: (path) => {
      watched.add(path);
      return DISK.list(path);
    },
    listBytes: (path) => {
      watched.add(path);
      return DISK.listBytes(path);
    },
    stat: (path) => {
      const around = nearest(dirname(path), watched);
      watched.add(around);
      return DISK.stat(path);
    },
  };
  const written = stages.flatMap(({ deps, outs }) => [...deps, ...outs].map(({ path }) => path));
  const patterns = [...new Set(written)].flatMap((path) => {
    const parsed = parsePattern(path);
    return parsed.ok ? [placePattern(parsed.pattern, root)] : [];
  });
  const ignore = ignoreRule(watch.ignore);
  const { found } = await scanInSlices({ patterns, root, ignore, disk });
  for (const { path, stamp } of found)
    if (stamp.kind === 'directory') noteBelow(path, watched, ignore.ignores);
}

/** Of what is not there yet, the way to it is watched. */
function nearest(directory: string, watched: ReadonlySet<string>): string {
  let at = directory;
  while (!watched.has(at) && dirname(at) !== at && DISK.stat(at)?.kind !== 'directory') at = dirname(at);
  return at;
}

/** A directory that is a dep is watched all the way down. */
function noteBelow(directory: string, watched: Set<string>, ignores: (name: string) => boolean): void {
  watched.add(directory);
  for (const entry of entriesOf(directory))
    if (entry.isDirectory() && !ignores(entry.name))
      noteBelow(`${directory}/${entry.name}`, watched, ignores);
}

function entriesOf(directory: string) {
  try {
    return DISK.list(directory);
  } catch {
    return [];
  }
}
