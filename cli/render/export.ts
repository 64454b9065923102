// What was exported, in one line.

import { shown } from '../../schema/diagnostic.ts';
import type { Exported } from '../export/export-tree.ts';

interface ExportReport extends Exported {
  readonly workflow: string;
  readonly to: string;
}

export function renderExported(report: ExportReport, json: boolean): string {
  if (json) return `${JSON.stringify(report)}\n`;
  const { workflow, to, entities, failures, written, unchanged, removed } = report;
  const what = [
    entities === 1 ? '1 entity' : `${entities} entities`,
    ...(failures > 0 ? [`${failures} with failures`] : []),
    `${written} files written`,
    ...(unchanged > 0 ? [`${unchanged} as they were`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ];
  return `${shown(workflow)}: ${what.join(', ')} in ${shown(to)}\n`;
}
