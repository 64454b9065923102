// The files of a push, every one of them checked before anything is sent.

import { dirname, resolve } from 'node:path';
import { projectRootOf } from '../../host/project-root.ts';
import { shown, suggest } from '../../schema/diagnostic.ts';
import type { Json } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { CliError, EXIT, type Io, list, text, type Values } from '../command.ts';
import { checkFile } from '../load-file.ts';
import { isElsewhere } from '../look/reach-workflow.ts';
import { readOverride } from '../overrides.ts';
import { renderReport } from '../render/diagnostics.ts';

export interface Pushed {
  /** As the person named it. */
  readonly file: string;
  readonly path: string;
  readonly name: string;
  readonly root: string;
  /** Of the values given, those for params that this workflow has. */
  readonly set: Readonly<Record<string, Json>>;
  readonly source: string;
  readonly workflow: Workflow;
}

export function readPushed(files: readonly string[], values: Values, io: Io): readonly Pushed[] {
  const written = list(values, 'set').map(readOverride);
  const root = text(values, 'root');
  const place = { cwd: io.cwd, ...(root === undefined ? {} : { root: resolve(io.cwd, root) }) };
  const known = new Set<string>();
  let wrong = 0;
  const pushed = files.flatMap((file): Pushed[] => {
    // Without the values first: only the file itself says which of them are its own.
    const params = Object.keys(paramsOf(checkFile(file, place)));
    for (const name of params) known.add(name);
    const set = Object.fromEntries(written.filter(([name]) => params.includes(name)));
    const { path, report, loaded } = checkFile(file, { ...place, set });
    io.stderr.write(renderReport(report, io));
    if (loaded?.kind !== 'workflow') {
      if (loaded?.kind === 'settings') io.stderr.write(`${shown(file)} holds settings, not a workflow\n`);
      wrong++;
      return [];
    }
    const { workflow } = loaded;
    const at = place.root ?? dirname(path);
    return [{ file, path, name: workflow.name, root: at, set, source: report.text, workflow }];
  });
  if (wrong > 0) throw invalid(wrong, files.length);
  for (const [name] of written) if (!known.has(name)) throw noSuchParam(name, [...known]);
  refuseSameName(pushed);
  return pushed;
}

/** Where the control plane is looked for, if not by URL: in the one project that all files belong to. */
export function commonPlace(pushed: readonly Pushed[], values: Values, io: Io): string {
  const [first] = pushed;
  if (first === undefined || isElsewhere(values)) return io.cwd;
  const project = projectRootOf(dirname(first.path));
  const stranger = pushed.find(({ path }) => projectRootOf(dirname(path)) !== project);
  if (stranger === undefined) return dirname(first.path);
  throw new CliError({
    code: 'several-projects',
    message: `${shown(first.file)} and ${shown(stranger.file)} belong to different projects`,
    hint: 'push them one by one, or name the control plane with --api URL',
  });
}

function paramsOf({ loaded }: ReturnType<typeof checkFile>): Readonly<Record<string, Json>> {
  return loaded?.kind === 'workflow' ? loaded.workflow.params : {};
}

function refuseSameName(pushed: readonly Pushed[]): void {
  const byName = new Map<string, Pushed>();
  for (const each of pushed) {
    const other = byName.get(each.name);
    if (other === undefined) {
      byName.set(each.name, each);
      continue;
    }
    throw new CliError({
      code: 'same-name',
      message: `${shown(other.file)} and ${shown(each.file)} are both called '${shown(each.name)}'`,
      hint: 'give one of them another name with `name:`; nothing was registered',
    });
  }
}

function invalid(wrong: number, all: number): CliError {
  const one =
    all === 1 ? 'the file is' : wrong === 1 ? `one of ${all} files is` : `${wrong} of ${all} files are`;
  return new CliError({
    code: 'invalid-workflow',
    message: `${one} no valid workflow; nothing was registered`,
    hint: 'mend what is listed above',
    exitCode: EXIT.invalid,
  });
}

function noSuchParam(name: string, known: readonly string[]): CliError {
  return new CliError({
    code: 'unknown-param',
    message: `--set ${shown(name)}: none of the workflows has such a param; nothing was registered`,
    hint: suggest(name, known),
  });
}
