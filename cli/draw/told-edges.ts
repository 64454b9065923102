// The edges worth drawing: an `after` that other edges imply would only be a line more to follow.

import type { Dag, Edge } from '../../schema/dag.ts';
import type { StageId } from '../../schema/words.ts';

export function withoutImplied(dag: Dag): Dag {
  const edges = dag.edges.filter((edge) => edge.cause.kind !== 'after' || !isImplied(edge, dag));
  const upstream = new Map<StageId, StageId[]>(dag.order.map((id) => [id, []]));
  const downstream = new Map<StageId, StageId[]>(dag.order.map((id) => [id, []]));
  for (const { from, to } of edges) {
    upstream.get(to)!.push(from);
    downstream.get(from)!.push(to);
  }
  return { ...dag, edges, upstream, downstream };
}

/** Whether a longer way leads to the same stage. Only stages less deep than it can lie on one. */
function isImplied({ from, to }: Edge, { downstream, depth }: Dag): boolean {
  const end = depth.get(to)!;
  const seen = new Set<StageId>();
  const pending = downstream.get(from)!.filter((id) => id !== to);
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === to) return true;
    if (seen.has(id) || depth.get(id)! >= end) continue;
    seen.add(id);
    pending.push(...downstream.get(id)!);
  }
  return false;
}
