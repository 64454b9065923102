// A workflow as a Mermaid flowchart, for READMEs and issues.

import type { Dag, Edge } from '../../schema/dag.ts';
import type { StageId } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { edgeLabel } from './edge-label.ts';
import { type Look, marksOf, markWords, type StageMarks } from './stage-marks.ts';

const SHAPES: Readonly<Record<Look, readonly [string, string]>> = {
  source: ['[/', '/]'],
  transform: ['[', ']'],
  action: ['([', '])'],
  gate: ['{{', '}}'],
};

export function drawMermaid(workflow: Workflow, dag: Dag): string {
  // Stages get numbered ids: `end`, brackets or quotes in an id would break Mermaid's grammar.
  const ids = new Map(workflow.stages.map((stage, index) => [stage.id, `s${index}`]));
  return [
    'flowchart LR',
    ...workflow.stages.map((stage) => `  ${drawStage(ids.get(stage.id)!, marksOf(stage))}`),
    ...dag.edges.map((edge) => `  ${drawEdge(ids, edge)}`),
    '',
  ].join('\n');
}

function drawStage(id: string, marks: StageMarks): string {
  const [open, close] = SHAPES[marks.look];
  const lines = [marks.name, markWords(marks).join(' · ')].filter((line) => line !== '');
  return `${id}${open}"${lines.map(escaped).join('<br/>')}"${close}`;
}

function drawEdge(ids: ReadonlyMap<StageId, string>, edge: Edge): string {
  const arrow = edge.cause.kind === 'after' ? '-.->' : '-->';
  return `${ids.get(edge.from)} ${arrow}|"${escaped(edgeLabel(edge))}"| ${ids.get(edge.to)}`;
}

/**
 * All ASCII punctuation that could mean something to Mermaid, its Markdown or HTML, as `#code;`.
 * The colon is among it because Mermaid drops the `;` of a code that follows `style…:` on one line.
 */
function escaped(text: string): string {
  return text.replace(/[!-,:-@[-^`{-~]/g, (c) => `#${c.charCodeAt(0)};`);
}
