// Finds every knot of stages that wait for each other, and one shortest loop through it to show.

import type { StageId } from './words.ts';

interface Arrow {
  readonly from: StageId;
  readonly to: StageId;
}

/** One loop per strongly connected component: each stage needs the one before it, the first needs the last. */
export function findCycles(ids: readonly StageId[], edges: readonly Arrow[]): StageId[][] {
  const next = new Map(ids.map((id) => [id, [] as StageId[]]));
  for (const { from, to } of edges) next.get(from)?.push(to);
  return components(ids, next)
    .filter(([first, ...rest]) => rest.length > 0 || next.get(first!)!.includes(first!))
    .map((component) => shortestLoop(component, next, ids));
}

/** Tarjan's algorithm without recursion: a chain of 5,000 stages must not end the stack. */
function components(ids: readonly StageId[], next: ReadonlyMap<StageId, readonly StageId[]>): StageId[][] {
  const number = new Map<StageId, number>();
  const low = new Map<StageId, number>();
  const open: StageId[] = [];
  const isOpen = new Set<StageId>();
  const found: StageId[][] = [];
  const enter = (id: StageId) => {
    number.set(id, number.size);
    low.set(id, number.get(id)!);
    open.push(id);
    isOpen.add(id);
    return { id, tried: 0 };
  };
  for (const start of ids) {
    const path = number.has(start) ? [] : [enter(start)];
    while (path.length > 0) {
      const top = path.at(-1)!;
      const to = next.get(top.id)![top.tried++];
      if (to !== undefined) {
        if (!number.has(to)) path.push(enter(to));
        else if (isOpen.has(to)) low.set(top.id, Math.min(low.get(top.id)!, number.get(to)!));
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) low.set(parent.id, Math.min(low.get(parent.id)!, low.get(top.id)!));
      if (low.get(top.id) !== number.get(top.id)) continue;
      const component = open.splice(open.lastIndexOf(top.id));
      for (const id of component) isOpen.delete(id);
      found.push(component);
    }
  }
  return found;
}

function shortestLoop(
  component: readonly StageId[],
  next: ReadonlyMap<StageId, readonly StageId[]>,
  ids: readonly StageId[],
): StageId[] {
  const inside = new Set(component);
  const start = ids.find((id) => inside.has(id))!;
  const cameFrom = new Map<StageId, StageId>();
  for (const queue = [start]; queue.length > 0; ) {
    const id = queue.shift()!;
    for (const to of next.get(id)!) {
      if (to === start) return trace(start, id, cameFrom);
      if (!inside.has(to) || cameFrom.has(to)) continue;
      cameFrom.set(to, id);
      queue.push(to);
    }
  }
  return [...component];
}

function trace(start: StageId, end: StageId, cameFrom: ReadonlyMap<StageId, StageId>): StageId[] {
  const loop = [end];
  while (loop[0] !== start) loop.unshift(cameFrom.get(loop[0]!)!);
  return loop;
}
