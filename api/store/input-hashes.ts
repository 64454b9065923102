// What a state was made from, named as a person would: by the stage that made it, else by its path.

import { pathId, rootOn } from '../../schema/discovery/place.ts';
import type { PlacedStage } from '../../schema/discovery/registry.ts';
import { normalisePath } from '../../schema/pattern.ts';
import type { Registered } from './registered.ts';

interface Dep {
  readonly path: string;
  readonly hash: string;
}

/** `deps` is the list of a record, as it is stored. Several inputs of one stage go by their paths. */
export function inputHashes(
  known: Registered,
  placed: PlacedStage,
  deps: string | null,
): Record<string, string> {
  if (deps === null) return {};
  const named = (JSON.parse(deps) as Dep[]).map((dep) => ({
    ...dep,
    stage: makerOf(known, placed, dep.path),
  }));
  const times = new Map<string | null, number>();
  for (const { stage } of named) times.set(stage, (times.get(stage) ?? 0) + 1);
  return Object.fromEntries(
    named.map(({ path, hash, stage }) => [stage !== null && times.get(stage) === 1 ? stage : path, hash]),
  );
}

/** The stage of the same workflow that makes a path, or that it is the source of. */
function makerOf(
  { registry }: Registered,
  { of, target, deps }: PlacedStage,
  written: string,
): string | null {
  for (const on of new Set([target, ...deps.map((dep) => dep.target)])) {
    const path = pathId(normalisePath(written.startsWith('/') ? written : `${rootOn(of, on)}/${written}`));
    const makers = (registry.makers.get(on)?.match(path) ?? []).map(({ value }) => value);
    const sources = (registry.readers.get(on)?.match(path) ?? [])
      .map(({ value }) => value.placed)
      .filter(({ stage }) => stage.kind === 'source');
    const maker = [...makers, ...sources].find((each) => each.of.name === of.name);
    if (maker !== undefined) return maker.stage.id;
  }
  return null;
}
