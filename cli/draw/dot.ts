// A workflow in Graphviz's language.

import type { Dag, Edge } from '../../schema/dag.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { StageId } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { edgeLabel } from './edge-label.ts';
import { type Look, marksOf, markWords, type StageMarks } from './stage-marks.ts';

const SHAPES: Readonly<Record<Look, string>> = {
  source: 'shape=note',
  transform: 'shape=box, style=rounded',
  action: 'shape=oval',
  gate: 'shape=octagon',
};

export function drawDot(workflow: Workflow, dag: Dag): string {
  const ids = new Map(workflow.stages.map((stage, index) => [stage.id, `s${index}`]));
  return [
    `digraph "${escaped(shown(workflow.name))}" {`,
    '  rankdir=LR;',
    '  node [fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    ...workflow.stages.map((stage) => `  ${drawStage(ids.get(stage.id)!, marksOf(stage))}`),
    ...dag.edges.map((edge) => `  ${drawEdge(ids, edge)}`),
    '}',
    '',
  ].join('\n');
}

function drawStage(id: string, marks: StageMarks): string {
  const words = markWords(marks);
  const lines = words.length === 0 ? [marks.name] : [marks.name, words.join(' · ')];
  return `${id} [label="${lines.map(escaped).join('\\n')}", ${SHAPES[marks.look]}${marks.frozen ? ', peripheries=2' : ''}];`;
}

function drawEdge(ids: ReadonlyMap<StageId, string>, edge: Edge): string {
  const style = edge.cause.kind === 'after' ? ', style=dashed' : '';
  return `${ids.get(edge.from)} -> ${ids.get(edge.to)} [label="${escaped(edgeLabel(edge))}"${style}];`;
}

/** Graphviz also reads HTML entities and backslash sequences inside quoted labels. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
