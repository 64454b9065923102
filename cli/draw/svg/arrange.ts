// The whole picture, flowing to the right or down, whichever needs less scrolling.

import type { Dag } from '../../../schema/dag.ts';
import { CliError } from '../../command.ts';
import { frameSize } from './frame.ts';
import { knotsOf, type Net } from './knots.ts';
import type { Size } from './lay-out.ts';
import { type Picture, place } from './place.ts';

const SCREEN: Size = { width: 1480, height: 860 };

// dagre recurses along the flow (a chain of 2,000 overflows the stack); both ways of a span of 4,000 take it 4 s.
const DEEPEST = 1_000;
const LONGEST_SPAN = 4_000;

/** `box` is the size of a single stage's box. */
export function arrange(dag: Dag, box: Size): Picture {
  const net = knotsOf(dag);
  refuseTooLarge(net, dag);
  const sizes = net.knots.map(({ stages }) => frameSize(stages.length, box));
  const right = place(net, sizes, 'right');
  if (right.width <= SCREEN.width) return right;
  const down = place(net, sizes, 'down');
  return effort(down) < effort(right) ? down : right;
}

/** Scrolling sideways is worse than scrolling down. */
function effort({ width, height }: Size): number {
  return Math.max(1, width / SCREEN.width) ** 2 * Math.max(1, height / SCREEN.height);
}

function refuseTooLarge({ knots, ties }: Net, dag: Dag): void {
  const depths = knots.map(({ stages }) => dag.depth.get(stages[0]!)!);
  const span = ties.reduce((sum, { from, to }) => sum + depths[to]! - depths[from]!, 0);
  if (span <= LONGEST_SPAN && depths.every((depth) => depth < DEEPEST)) return;
  throw new CliError({
    code: 'too-large-to-draw',
    message: `${dag.order.length} stages are too many, or too deep, for a readable SVG`,
    hint: 'use --format tree, or --format dot and a layout program of your choice',
  });
}
