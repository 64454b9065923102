// The order of stages across all workflows of one control plane: who waits for whom, and loops between workflows.

import { buildDag, type DagProblem, type DagStage, upstreamOf } from '../dag.ts';
import type { Segment } from '../pattern.ts';
import type { StageId } from '../words.ts';
import type { PlacedStage } from './registry.ts';

export interface StageLink {
  readonly stage: number;
  readonly upstream: number;
  readonly kind: 'after' | 'far';
  /** The stage only acts, so it is due again whenever the other made something. */
  readonly rouses: boolean;
}

export function linkStages(stages: readonly PlacedStage[]): {
  readonly links: readonly StageLink[];
  readonly problems: readonly DagProblem[];
} {
  const byName = new Map(stages.map((placed) => [qualified(placed, placed.stage.id), placed]));
  const { dag, problems } = buildDag(stages.map(asDagStage));
  const idOf = (name: StageId) => byName.get(name)!.id;
  const links: StageLink[] = [];
  for (const [name, placed] of byName) {
    const near = new Set(dag.upstream.get(name));
    const after = placed.stage.after.map((id) => qualified(placed, id)).filter((id) => byName.has(id));
    const rouses = placed.stage.kind === 'action';
    for (const id of after) links.push({ stage: placed.id, upstream: idOf(id), kind: 'after', rouses });
    for (const id of near) {
      if (!after.includes(id) && readsInside(placed, byName.get(id)!))
        links.push({ stage: placed.id, upstream: idOf(id), kind: 'after', rouses: false });
    }
    for (const id of upstreamOf(dag, name)) {
      if (!near.has(id) && byName.get(id)!.stage.kind !== 'source')
        links.push({ stage: placed.id, upstream: idOf(id), kind: 'far', rouses: false });
    }
  }
  return { links, problems };
}

/**
 * Of files inside a directory that is made as a whole nobody says which state makes them: what reads one, or all of
 * them file by file, waits for the stage. A fan-out says it of each of its files.
 */
function readsInside({ stage, deps }: PlacedStage, maker: PlacedStage): boolean {
  if (maker.stage.fanOut !== null) return false;
  return deps.some(({ target, pattern }, index) => {
    const isFannedOut = stage.fanOut !== null && index === 0;
    return maker.outs.some(
      (out) =>
        out.target === target &&
        out.pattern.directory &&
        pattern.segments.length + (isFannedOut ? 1 : 0) > out.pattern.segments.length &&
        out.pattern.segments.every((segment, i) => mayBeSame(segment, pattern.segments[i]!)),
    );
  });
}

function mayBeSame(one: Segment, other: Segment): boolean {
  const isOpen = [...one, ...other].some(({ kind }) => kind !== 'literal');
  return isOpen || JSON.stringify(one) === JSON.stringify(other);
}

/** `workflow#stage`, as `produced_by` says it. */
function qualified({ of }: PlacedStage, stage: string): StageId {
  return `${of.name}#${stage}` as StageId;
}

function asDagStage(placed: PlacedStage): DagStage {
  const { stage, deps, outs, target } = placed;
  return {
    id: qualified(placed, stage.id),
    kind: stage.kind,
    target,
    after: stage.after.map((id) => qualified(placed, id)),
    deps: deps.map(({ pattern, target: on }) => ({ path: pattern.text, target: on })),
    outs: outs.map(({ pattern, target: on }) => ({ path: pattern.text, remote: on === target ? null : on })),
  };
}
