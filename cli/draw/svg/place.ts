// Where everything stands on the paper: boxes by their corners, lines straight past boxes and bent between them.

import type { Knot, Net, Tie } from './knots.ts';
import { layOut, type Placed, type Point, type Size } from './lay-out.ts';

export interface Box extends Point, Size {
  readonly knot: Knot;
}

export type Flow = 'right' | 'down';

/** A straight piece along the flow. */
export type Run = readonly [start: Point, end: Point];

export interface Route {
  readonly tie: Tie;
  /** A bend leads from each to the next. */
  readonly runs: readonly Run[];
}

export interface Picture extends Size {
  readonly flow: Flow;
  readonly boxes: readonly Box[];
  readonly routes: readonly Route[];
}

/** From the left-most edge of a rank's boxes to the right-most. */
interface Column {
  left: number;
  right: number;
}

const RANK_GAP: Readonly<Record<Flow, number>> = { right: 44, down: 28 };

/** What flows down is laid out to the right with its boxes lying on their sides, and turned at the end. */
export function place(net: Net, sizes: readonly Size[], flow: Flow): Picture {
  if (flow === 'right') return placeRight(net, sizes, RANK_GAP.right);
  return turned(placeRight(net, sizes.map(lying), RANK_GAP.down));
}

function placeRight(net: Net, sizes: readonly Size[], gap: number): Picture {
  const { width, height, boxes, points } = layOut(net, sizes, gap);
  const columns = columnsOf(boxes);
  return {
    width,
    height,
    flow: 'right',
    boxes: boxes.map((box, i) => ({ ...cornered(box), knot: net.knots[i]! })),
    routes: net.ties.map((tie, i) => {
      const ends = { from: boxes[tie.from]!, to: boxes[tie.to]! };
      return { tie, runs: runsOf(ends, points[i]!, columns) };
    }),
  };
}

function cornered({ x, y, width, height }: Placed): Placed {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Boxes of one rank share a middle, and ranks do not overlap. */
function columnsOf(boxes: readonly Placed[]): Column[] {
  const columns = new Map<number, Column>();
  for (const { x, width } of [...boxes].sort((a, b) => a.x - b.x)) {
    const column = columns.get(x) ?? { left: x, right: x };
    columns.set(x, {
      left: Math.min(column.left, x - width / 2),
      right: Math.max(column.right, x + width / 2),
    });
  }
  return [...columns.values()];
}

/** Straight across every column, where dagre keeps a place free for the line, so that no bend touches a box. */
function runsOf(
  { from, to }: { readonly from: Placed; readonly to: Placed },
  points: readonly Point[],
  columns: readonly Column[],
): Run[] {
  const run = (left: number, right: number, y: number): Run => [
    { x: left, y },
    { x: right, y },
  ];
  const between = columns.filter(({ left, right }) => left > from.x && right < to.x);
  const first = columns.find(({ left, right }) => left <= from.x && from.x <= right)!;
  const last = columns.find(({ left, right }) => left <= to.x && to.x <= right)!;
  return [
    run(from.x + from.width / 2, first.right, from.y),
    ...between.map(({ left, right }) => run(left, right, heightAt(points, (left + right) / 2))),
    run(last.left, to.x - to.width / 2, to.y),
  ];
}

function heightAt(points: readonly Point[], x: number): number {
  const next = points.findIndex((point) => point.x >= x);
  if (next <= 0) return points.at(next)!.y;
  const [a, b] = [points[next - 1]!, points[next]!];
  return a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x);
}

function lying<T extends Size>(thing: T): T {
  return { ...thing, width: thing.height, height: thing.width };
}

function turned(picture: Picture): Picture {
  const turn = <T extends Point>(thing: T): T => ({ ...thing, x: thing.y, y: thing.x });
  return {
    ...lying(picture),
    flow: 'down',
    boxes: picture.boxes.map((box) => lying(turn(box))),
    routes: picture.routes.map(({ tie, runs }) => ({
      tie,
      runs: runs.map(([start, end]): Run => [turn(start), turn(end)]),
    })),
  };
}
