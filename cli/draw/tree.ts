// A workflow as text for the terminal: every stage once, after all that it needs, on rails.
//
//   ○ load              source
//   ├─● left            per {doc}
//   ├─● right
//   ● join              ← left, right
//
// `○` starts something, `●` follows the stage its rail comes from; where that is not all, `←` names the inputs.

import type { Dag, Edge } from '../../schema/dag.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { StageId } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';
import { paint, type Style } from '../render/output.ts';
import { type Look, marksOf, markWords, type StageMarks } from './stage-marks.ts';
import { columnsOf, cutMiddle, padColumns } from './text-columns.ts';
import { flowTree } from './tree/flow-tree.ts';
import { inputsText } from './tree/inputs-text.ts';
import { type Row, rowsOf } from './tree/rows.ts';

export interface TreeOptions {
  readonly color: boolean;
  /** Columns of the terminal; Infinity cuts nothing. */
  readonly width: number;
}

/** A row with all that is told about its stage. */
interface Line {
  readonly rails: string;
  readonly marks: StageMarks;
  readonly words: string;
  readonly edges: readonly Edge[];
}

interface Columns {
  readonly name: number;
  readonly words: number;
  readonly inputs: number;
}

const COLORS: Readonly<Record<Look, Style>> = {
  source: 'green',
  transform: 'cyan',
  action: 'yellow',
  gate: 'blue',
};
const NARROWEST = 60;

export function drawTree(workflow: Workflow, dag: Dag, options: TreeOptions): string {
  const lines = linesOf(workflow, dag, rowsOf(flowTree(dag.order, dag.upstream)));
  const width = Math.max(NARROWEST, options.width);
  const columns = columnsFor(lines, width);
  const count = lines.length === 1 ? '1 stage' : `${lines.length} stages`;
  const name = cutMiddle(shown(workflow.name), width - count.length - 2);
  const head = `${paint(options, 'bold', name)}  ${paint(options, 'dim', count)}`;
  return [head, '', ...lines.map((line) => drawLine(line, columns, options)), ''].join('\n');
}

function linesOf(workflow: Workflow, dag: Dag, rows: readonly Row[]): Line[] {
  const marks = new Map(workflow.stages.map((stage) => [stage.id, marksOf(stage)]));
  const incoming = new Map<StageId, Edge[]>(dag.order.map((id) => [id, []]));
  for (const edge of dag.edges) incoming.get(edge.to)!.push(edge);
  return rows.map(({ id, rails }) => {
    const words = markWords(marks.get(id)!).join(' · ');
    return { rails, marks: marks.get(id)!, words, edges: incoming.get(id)! };
  });
}

function columnsFor(lines: readonly Line[], width: number): Columns {
  const widest = (texts: readonly number[], limit: number) =>
    Math.min(
      texts.reduce((most, columns) => Math.max(most, columns), 0),
      Math.floor(limit),
    );
  const name = widest(
    lines.map(({ rails, marks }) => rails.length + 2 + columnsOf(marks.name)),
    width * 0.4,
  );
  const words = widest(
    lines.map((line) => columnsOf(line.words)),
    width * 0.3,
  );
  return { name, words, inputs: width - name - words - 4 };
}

function drawLine({ rails, marks, words, edges }: Line, columns: Columns, options: TreeOptions): string {
  const name = cutMiddle(marks.name, Math.max(8, columns.name - rails.length - 2));
  const dot = edges.length === 0 ? '○' : '●';
  const head =
    (rails === '' ? '' : paint(options, 'dim', rails)) + paint(options, COLORS[marks.look], `${dot} ${name}`);
  const notes = columns.words === 0 ? '' : `${padColumns(cutMiddle(words, columns.words), columns.words)}  `;
  const tellsInputs = edges.length > 1 || edges.some(({ cause }) => cause.kind === 'after');
  const tail = `${notes}${tellsInputs ? inputsText(edges, columns.inputs) : ''}`.trimEnd();
  if (tail === '') return head;
  const missing = columns.name - rails.length - 2 - columnsOf(name);
  return `${head}${' '.repeat(Math.max(0, missing) + 2)}${paint(options, 'dim', tail)}`;
}
