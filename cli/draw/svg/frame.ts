// A frame around many stages that have the same neighbours: a grid of boxes and one caption.

import type { Size } from './lay-out.ts';
import type { Box } from './place.ts';
import type { Place } from './stage-box.ts';
import { num } from './xml.ts';

const PADDING = 10;
const CAPTION = 16;
const GAP = 8;
const SHAPE = 1.5;

/** Of a single stage it is the box itself. */
export function frameSize(count: number, box: Size): Size {
  if (count === 1) return box;
  const columns = columnsFor(count, box);
  const rows = Math.ceil(count / columns);
  return {
    width: columns * (box.width + GAP) - GAP + 2 * PADDING,
    height: rows * (box.height + GAP) - GAP + 2 * PADDING + CAPTION,
  };
}

/** Where each stage of the knot stands; one without a frame fills its box. */
export function placesIn(box: Box, size: Size): Place[] {
  const count = box.knot.stages.length;
  if (count === 1) return [box];
  const columns = columnsFor(count, size);
  return box.knot.stages.map((_, index) => ({
    x: box.x + PADDING + (index % columns) * (size.width + GAP),
    y: box.y + PADDING + CAPTION + Math.floor(index / columns) * (size.height + GAP),
    ...size,
  }));
}

export function drawFrame({ knot, x, y, width, height }: Box): string {
  return [
    `<rect class="frame" x="${num(x)}" y="${num(y)}" width="${num(width)}" height="${num(height)}" rx="9"/>`,
    `<text class="key" x="${num(x + PADDING)}" y="${num(y + PADDING + 7)}">${knot.stages.length} alike</text>`,
  ].join('');
}

function columnsFor(count: number, box: Size): number {
  const square = Math.sqrt((count * (box.height + GAP) * SHAPE) / (box.width + GAP));
  return Math.max(1, Math.min(count, Math.round(square)));
}
