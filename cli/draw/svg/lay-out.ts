// The layout that dagre finds, flowing to the right, as plain values.

import { Graph, layout } from '@dagrejs/dagre';
import type { Net } from './knots.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** `x` and `y` are the middle. */
export type Placed = Point & Size;

export interface Layout extends Size {
  /** One per knot. */
  readonly boxes: readonly Placed[];
  /** Per tie, where it passes, from left to right. */
  readonly points: readonly (readonly Point[])[];
}

interface Settings extends Size {
  readonly rankdir: 'LR';
  readonly ranker: 'network-simplex' | 'tight-tree';
  readonly nodesep: number;
  readonly edgesep: number;
  readonly ranksep: number;
}

// The better ranker takes 0.5 s for 300 stages, but 5 s for 1,000.
const MOST_FOR_SIMPLEX = 400;

export function layOut(net: Net, sizes: readonly Size[], ranksep: number): Layout {
  if (sizes.length === 0) return { width: 0, height: 0, boxes: [], points: [] };
  const graph = new Graph<Settings, Placed, { readonly points: readonly Point[] }>();
  const ranker = sizes.length > MOST_FOR_SIMPLEX ? 'tight-tree' : 'network-simplex';
  graph.setGraph({ rankdir: 'LR', ranker, nodesep: 10, edgesep: 7, ranksep, width: 0, height: 0 });
  for (const [knot, size] of sizes.entries()) graph.setNode(String(knot), { ...size, x: 0, y: 0 });
  for (const { from, to } of net.ties) graph.setEdge(String(from), String(to), { points: [] });
  layout(graph);
  const boxes = sizes.map((_, knot) => graph.node(String(knot)));
  const points = net.ties.map(({ from, to }) => graph.edge(String(from), String(to)).points);
  const found = fitted({ width: graph.graph().width, height: 0, boxes, points });
  return isUpsideDown(boxes) ? mirrored(found) : found;
}

/** dagre's own height is that of the boxes; lines that pass above or below them need room too. */
function fitted({ width, boxes, points }: Layout): Layout {
  const edges = boxes.flatMap(({ y, height }) => [y - height / 2, y + height / 2]);
  const passed = points.flatMap((line) => line.map(({ y }) => y));
  const all = [...edges, ...passed];
  const [top, bottom] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const lowered = <T extends Point>(thing: T): T => ({ ...thing, y: thing.y - top });
  return {
    width,
    height: bottom - top,
    boxes: boxes.map(lowered),
    points: points.map((line) => line.map(lowered)),
  };
}

/** To dagre both ways up are the same; to a reader the stages that come first in the file belong on top. */
function isUpsideDown(boxes: readonly Placed[]): boolean {
  const lastOfRank = new Map<number, Placed>();
  let balance = 0;
  for (const box of boxes) {
    const last = lastOfRank.get(box.x);
    if (last !== undefined) balance += Math.sign(box.y - last.y);
    lastOfRank.set(box.x, box);
  }
  return balance < 0;
}

function mirrored({ width, height, boxes, points }: Layout): Layout {
  const mirror = <T extends Point>(thing: T): T => ({ ...thing, y: height - thing.y });
  return { width, height, boxes: boxes.map(mirror), points: points.map((line) => line.map(mirror)) };
}
