// Which stage comes after which: edges found from paths, patterns and words, an order, and what is wrong.

import { findCycles } from './cycle.ts';
import { Heap } from './heap.ts';
import { PathIndex, shapeOf } from './path-index.ts';
import { type Pattern, parsePattern } from './pattern.ts';
import type { StageId, TargetName } from './words.ts';
import type { Stage } from './workflow.ts';

export type EdgeCause = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'after' };

export interface Edge {
  readonly from: StageId;
  readonly to: StageId;
  readonly cause: EdgeCause;
}

export interface Dag {
  /** Topological, file order among equals. */
  readonly order: readonly StageId[];
  readonly edges: readonly Edge[];
  readonly upstream: ReadonlyMap<StageId, readonly StageId[]>;
  readonly downstream: ReadonlyMap<StageId, readonly StageId[]>;
  /** The longest way from a stage that has nothing before it; equal depths can run side by side. */
  readonly depth: ReadonlyMap<StageId, number>;
}

export type DagProblem =
  /** Each stage needs the one before it; the first needs the last. */
  | { readonly problem: 'cycle'; readonly stages: readonly StageId[] }
  | {
      readonly problem: 'two-writers';
      readonly stages: readonly [StageId, StageId];
      readonly paths: readonly [string, string];
      /** Of the second stage's outs. */
      readonly outIndex: number;
    }
  | {
      readonly problem: 'own-dep';
      readonly stage: StageId;
      readonly out: string;
      readonly outIndex: number;
      readonly dep: string;
    };

export type DagStage = Pick<Stage, 'id' | 'kind' | 'after' | 'target'> & {
  readonly deps: readonly Pick<Stage['deps'][number], 'path' | 'target'>[];
  readonly outs: readonly Pick<Stage['outs'][number], 'path' | 'remote'>[];
};

/** `locate` gives the one form of a path under which it is compared; by default a path is its own form. */
export function buildDag(
  stages: readonly DagStage[],
  locate: Locate = (path) => path,
): { dag: Dag; problems: DagProblem[] } {
  const ids = stages.map(({ id }) => id);
  const { index, problems } = indexOuts(stages, locate);
  const edges = findEdges(stages, index, locate, problems);
  for (const cycle of findCycles(ids, edges)) problems.push({ problem: 'cycle', stages: cycle });
  return { dag: orderStages(ids, edges), problems };
}

export type Locate = (path: string, target: TargetName) => string;

interface Writer {
  readonly stage: DagStage;
  readonly path: string;
  readonly outIndex: number;
}

function indexOuts(stages: readonly DagStage[], locate: Locate) {
  const index = new PathIndex<Writer>();
  const problems: DagProblem[] = [];
  for (const stage of stages) {
    for (const [outIndex, { path, remote }] of stage.outs.entries()) {
      const target = remote ?? stage.target;
      const pattern = patternOf(locate(path, target));
      if (pattern === null) continue;
      const rival = stage.kind === 'source' ? undefined : findRival(index, target, pattern);
      if (rival)
        problems.push({
          problem: 'two-writers',
          stages: [rival.stage.id, stage.id],
          paths: [rival.path, path],
          outIndex,
        });
      index.add(target, pattern, { stage, path, outIndex });
    }
  }
  return { index, problems };
}

/** Overlapping patterns are fine until a concrete path collides (SEMANTICS 14); equal or nested places are not. */
function findRival(index: PathIndex<Writer>, target: string, pattern: Pattern): Writer | undefined {
  const shape = shapeOf(pattern);
  return index.meet(target, pattern).find(({ pattern: other, value }) => {
    if (value.stage.kind === 'source') return false;
    const otherShape = shapeOf(other);
    return shape === otherShape || shape.startsWith(`${otherShape}/`) || otherShape.startsWith(`${shape}/`);
  })?.value;
}

function findEdges(
  stages: readonly DagStage[],
  index: PathIndex<Writer>,
  locate: Locate,
  problems: DagProblem[],
): Edge[] {
  const edges: Edge[] = [];
  const known = new Set(stages.map(({ id }) => id));
  for (const stage of stages) {
    const from = new Map<StageId, EdgeCause>();
    for (const dep of stage.deps) {
      const pattern = patternOf(locate(dep.path, dep.target));
      for (const { stage: writer, path, outIndex } of pattern === null
        ? []
        : writersOf(index, dep.target, pattern)) {
        if (writer.id === stage.id)
          problems.push({ problem: 'own-dep', stage: stage.id, out: path, outIndex, dep: dep.path });
        else if (!from.has(writer.id)) from.set(writer.id, { kind: 'path', path: dep.path });
      }
    }
    for (const id of stage.after) if (known.has(id) && !from.has(id)) from.set(id, { kind: 'after' });
    for (const [id, cause] of from) edges.push({ from: id, to: stage.id, cause });
  }
  return edges;
}

/** A writer of exactly this file rules out that a pattern means it too, so no false edge comes from `out/{x}.txt`. */
function writersOf(index: PathIndex<Writer>, target: string, pattern: Pattern): Writer[] {
  const meetings = index.meet(target, pattern);
  const exact = meetings.filter(
    ({ relation, pattern: out }) => relation === 'same' && out.variables.length === 0,
  );
  const chosen = pattern.variables.length === 0 && exact.length > 0 ? exact : meetings;
  return chosen.map(({ value }) => value);
}

function patternOf(path: string): Pattern | null {
  const parsed = parsePattern(path);
  return parsed.ok ? parsed.pattern : null;
}

/** Kahn's algorithm; of the stages that are ready, the one that stands first in the file goes first. */
export function orderStages(ids: readonly StageId[], edges: readonly Edge[]): Dag {
  const position = new Map(ids.map((id, i) => [id, i]));
  const upstream = new Map(ids.map((id) => [id, [] as StageId[]]));
  const downstream = new Map(ids.map((id) => [id, [] as StageId[]]));
  for (const { from, to } of edges) {
    upstream.get(to)!.push(from);
    downstream.get(from)!.push(to);
  }
  const waitingFor = ids.map((id) => upstream.get(id)!.length);
  const ready = new Heap(ids.flatMap((_, i) => (waitingFor[i] === 0 ? [i] : [])));
  const order: StageId[] = [];
  const depth = new Map<StageId, number>();
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    const id = ids[next]!;
    order.push(id);
    depth.set(
      id,
      upstream.get(id)!.reduce((most, before) => Math.max(most, depth.get(before)! + 1), 0),
    );
    for (const after of downstream.get(id)!) {
      const i = position.get(after)!;
      waitingFor[i]!--;
      if (waitingFor[i] === 0) ready.push(i);
    }
  }
  return { order, edges, upstream, downstream, depth };
}

/** Everything that would have to be made again after `stage`, itself not included. */
export function downstreamOf(dag: Dag, stage: StageId): ReadonlySet<StageId> {
  return reach(dag.downstream, stage);
}

export function upstreamOf(dag: Dag, stage: StageId): ReadonlySet<StageId> {
  return reach(dag.upstream, stage);
}

function reach(next: ReadonlyMap<StageId, readonly StageId[]>, stage: StageId): ReadonlySet<StageId> {
  const reached = new Set<StageId>();
  const pending = [...(next.get(stage) ?? [])];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    pending.push(...(next.get(id) ?? []));
  }
  return reached;
}
