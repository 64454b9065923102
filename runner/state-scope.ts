// What the templates of an action see: params, entity, and paths as they are written from where it runs.

import { writeFileSync } from 'node:fs';
import { dirname, join, parse, relative } from 'node:path';
import type { OneOrMorePaths, Scope } from '../schema/template/evaluate.ts';
import type { Json } from '../schema/words.ts';
import type { PreparedOut } from './outputs.ts';
import { readStageContent } from './stage-content.ts';
import type { StateFiles } from './state-files.ts';

export interface ScopePlace {
  readonly outs: readonly PreparedOut[];
  readonly cwd: string;
  readonly workDir: string;
  readonly root: string;
  readonly params: Readonly<Record<string, Json>>;
}

export function scopeOf(states: readonly StateFiles[], place: ScopePlace): Scope {
  const [first] = states;
  const here = (path: string) => relative(place.cwd, path) || '.';
  const deps = first!.inputs.map(({ collected, paths }) => (collected ? paths.map(here) : here(paths[0]!)));
  const prepared = new Map(place.outs.map(({ path, writeTo }) => [path, writeTo]));
  const outs = first!.outs.map(({ path }) => here(prepared.get(path) ?? path));
  return {
    params: place.params,
    entity: first!.bindings,
    deps,
    outs,
    stages: stagesOf(first!, deps),
    names: { ...namesOf(deps[0], outs[0], place.root), ...chunkNames(states, here, place) },
  };
}

function namesOf(
  input: OneOrMorePaths | undefined,
  output: string | undefined,
  root: string,
): Scope['names'] {
  const single =
    typeof input === 'string' ? { input_stem: parse(input).name, input_dir: dirname(input) } : {};
  return {
    root,
    ...(input === undefined ? {} : { input, ...single }),
    ...(output === undefined ? {} : { output }),
  };
}

/** `{{inputs}}` as words, and `{{input_list}}` as a file with one name per line, for more than fit on a line. */
function chunkNames(
  states: readonly StateFiles[],
  here: (path: string) => string,
  place: ScopePlace,
): Scope['names'] {
  if (states[0]!.stage.fanOut?.strategy !== 'chunked') return {};
  const inputs = states.map(({ inputs: [input] }) => here(input!.paths[0]!));
  const list = join(place.workDir, '.inputs');
  writeFileSync(list, inputs.map((path) => `${path}\n`).join(''));
  writeFileSync(`${list}0`, inputs.map((path) => `${path}\0`).join(''));
  return { inputs, input_list: here(list) };
}

/** `{{$.stage…}}`: the paths are deps already; the content is read only if it is JSON. */
function stagesOf({ stage, inputs }: StateFiles, deps: readonly OneOrMorePaths[]): Scope['stages'] {
  const entries = stage.deps.flatMap(({ stage: from }, i) => {
    if (from === null) return [];
    const path = deps[i]!;
    const content = typeof path === 'string' ? readStageContent(inputs[i]!.paths[0]!) : undefined;
    return [[from, { path, ...(content === undefined ? {} : { content }) }] as const];
  });
  return Object.fromEntries(entries);
}
