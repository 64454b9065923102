// The boxes to lay out: one per stage, or one frame for many stages that have the same neighbours.
//
// Three hundred stages between one source and one sink are three hundred lines to draw and none to read; in
// one frame with one line in and one out they say the same. So do three hundred stages without neighbours.

import type { Dag, Edge } from '../../../schema/dag.ts';
import type { StageId } from '../../../schema/words.ts';

export interface Knot {
  /** More than one: a frame. */
  readonly stages: readonly StageId[];
}

/** A line between two knots, by their indexes. */
export interface Tie {
  readonly from: number;
  readonly to: number;
  readonly edges: readonly Edge[];
}

export interface Net {
  /** In topological order. */
  readonly knots: readonly Knot[];
  readonly ties: readonly Tie[];
}

const FEWEST_IN_FRAME = 8;

export function knotsOf(dag: Dag): Net {
  const neighbours = neighboursOf(dag);
  const alike = new Map<string, StageId[]>([...neighbours.values()].map((key) => [key, []]));
  for (const id of dag.order) alike.get(neighbours.get(id)!)!.push(id);
  const knots = dag.order.flatMap((id): Knot[] => {
    const stages = alike.get(neighbours.get(id)!)!;
    if (stages.length < FEWEST_IN_FRAME) return [{ stages: [id] }];
    return stages[0] === id ? [{ stages }] : [];
  });
  return { knots, ties: tiesOf(knots, dag.edges) };
}

/** Equal texts for stages with the same lines to the same stages. */
function neighboursOf({ order, edges }: Dag): Map<StageId, string> {
  const place = new Map(order.map((id, index) => [id, index]));
  const lists = new Map<StageId, string[]>(order.map((id) => [id, []]));
  for (const { from, to, cause } of edges) {
    lists.get(from)!.push(`${cause.kind} to ${place.get(to)}`);
    lists.get(to)!.push(`${cause.kind} from ${place.get(from)}`);
  }
  return new Map([...lists].map(([id, list]) => [id, list.sort().join('\n')]));
}

function tiesOf(knots: readonly Knot[], edges: readonly Edge[]): Tie[] {
  const knotOf = new Map(knots.flatMap(({ stages }, index) => stages.map((id) => [id, index] as const)));
  const ties = new Map<string, Tie & { readonly edges: Edge[] }>();
  for (const edge of edges) {
    const [from, to] = [knotOf.get(edge.from)!, knotOf.get(edge.to)!];
    const tie = ties.get(`${from} ${to}`) ?? { from, to, edges: [] };
    tie.edges.push(edge);
    ties.set(`${from} ${to}`, tie);
  }
  return [...ties.values()];
}
