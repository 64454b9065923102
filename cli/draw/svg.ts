// A workflow as one self-contained SVG file.

import type { Dag } from '../../schema/dag.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { marksOf } from './stage-marks.ts';
import { arrange } from './svg/arrange.ts';
import { drawPicture, type Sheet } from './svg/draw-picture.ts';
import type { Point, Size } from './svg/lay-out.ts';
import { drawLegend } from './svg/legend.ts';
import { boxSizeFor } from './svg/stage-box.ts';
import { styleSheet } from './svg/style.ts';
import { num, titleElement, xmlText } from './svg/xml.ts';
import { cutMiddle } from './text-columns.ts';

const EDGE = 20;
const HEAD = 48;
const FOOT = 56;
const NARROWEST = 320;
const HEAD_COLUMN = 15 * 0.605;

export function drawSvg(workflow: Workflow, dag: Dag): string {
  const sheet = sheetFor(workflow);
  const picture = arrange(dag, sheet.boxSize);
  const looks = new Set([...sheet.stages.values()].map(({ marks }) => marks.look));
  const legend = drawLegend(
    looks,
    dag.edges.some(({ cause }) => cause.kind === 'after'),
  );
  const inner = Math.max(picture.width, legend?.width ?? 0, NARROWEST);
  const foot = legend === null ? EDGE : FOOT;
  const size = { width: Math.ceil(inner + 2 * EDGE), height: Math.ceil(HEAD + picture.height + foot) };
  return [
    ...opening(workflow, size),
    ...group({ x: (size.width - picture.width) / 2, y: HEAD }, drawPicture(picture, sheet)),
    ...(legend === null ? [] : group({ x: EDGE, y: size.height - foot / 2 }, [legend.elements])),
    '</svg>',
    '',
  ].join('\n');
}

function group({ x, y }: Point, elements: readonly string[]): string[] {
  return [`<g transform="translate(${num(x)} ${num(y)})">`, ...elements, '</g>'];
}

function sheetFor(workflow: Workflow): Sheet {
  const entries = workflow.stages.map((stage) => ({ stage, marks: marksOf(stage) }));
  return {
    stages: new Map(entries.map((entry) => [entry.stage.id, entry])),
    boxSize: boxSizeFor(entries.map((entry) => entry.marks)),
  };
}

function opening(workflow: Workflow, { width, height }: Size): string[] {
  const count = workflow.stages.length === 1 ? '1 stage' : `${workflow.stages.length} stages`;
  const columns = Math.floor((width - 2 * EDGE) / HEAD_COLUMN) - count.length - 3;
  const name = cutMiddle(shown(workflow.name), columns);
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    titleElement([workflow.name, ...(workflow.description === null ? [] : [workflow.description])]),
    `<style>${styleSheet()}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0.5L8 4L0 7.5z"/></marker></defs>',
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<text class="head" x="${EDGE}" y="28">${xmlText(name)}<tspan class="key" dx="10">${count}</tspan></text>`,
  ];
}
