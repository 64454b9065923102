// Boxes and routes as SVG elements: frames at the back, lines over them, boxes in front.

import type { Edge } from '../../../schema/dag.ts';
import type { StageId } from '../../../schema/words.ts';
import type { Stage } from '../../../schema/workflow.ts';
import { edgeLabel } from '../edge-label.ts';
import { markWords, type StageMarks } from '../stage-marks.ts';
import { drawFrame, placesIn } from './frame.ts';
import type { Point, Size } from './lay-out.ts';
import type { Box, Flow, Picture, Route, Run } from './place.ts';
import { drawStage } from './stage-box.ts';
import { num, titleElement } from './xml.ts';

export interface Sheet {
  readonly stages: ReadonlyMap<StageId, { readonly stage: Stage; readonly marks: StageMarks }>;
  /** Of a single stage. */
  readonly boxSize: Size;
}

const MOST_IN_TITLE = 8;

export function drawPicture(picture: Picture, sheet: Sheet): string[] {
  return [
    ...picture.boxes.filter(({ knot }) => knot.stages.length > 1).map(drawFrame),
    ...picture.routes.map((route) => drawRoute(route, picture.flow)),
    ...picture.boxes.flatMap((box) => drawBox(box, sheet)),
  ];
}

function drawRoute({ tie: { edges }, runs }: Route, flow: Flow): string {
  const isMany = edges.length > 1;
  const isAfter = edges.every(({ cause }) => cause.kind === 'after');
  const classes = ['line', ...(isMany ? ['many'] : []), ...(isAfter ? ['after'] : [])].join(' ');
  const rest = edges.length > MOST_IN_TITLE ? [`and ${edges.length - MOST_IN_TITLE} more`] : [];
  const title = titleElement([...edges.slice(0, MOST_IN_TITLE).map(lineTitle), ...rest]);
  return `<path class="${classes}" marker-end="url(#tip)" d="${pathOf(runs, flow)}">${title}</path>`;
}

function lineTitle(edge: Edge): string {
  return `${edge.from} → ${edge.to}: ${edgeLabel(edge)}`;
}

/** A last piece without length is left out: an arrow tip would not know which way to point. */
function pathOf(runs: readonly Run[], flow: Flow): string {
  const pieces = runs.map(([start, end], i) => {
    const lead = i === 0 ? `M${pair(start)}` : bend(runs[i - 1]![1], start, flow);
    return pair(start) === pair(end) ? lead : `${lead}L${pair(end)}`;
  });
  return pieces.join('');
}

/** An S that leaves and arrives along the flow. */
function bend(from: Point, to: Point, flow: Flow): string {
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  if (flow === 'right') return `C${num(x)} ${num(from.y)} ${num(x)} ${num(to.y)} ${pair(to)}`;
  return `C${num(from.x)} ${num(y)} ${num(to.x)} ${num(y)} ${pair(to)}`;
}

function pair({ x, y }: Point): string {
  return `${num(x)} ${num(y)}`;
}

function drawBox(box: Box, { stages, boxSize }: Sheet): string[] {
  const places = placesIn(box, boxSize);
  return box.knot.stages.map((id, index) => {
    const { stage, marks } = stages.get(id)!;
    const title = [stage.id, markWords(marks).join(' · '), stage.description ?? ''];
    return drawStage(
      marks,
      places[index]!,
      title.filter((line) => line !== ''),
    );
  });
}
