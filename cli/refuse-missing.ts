// What a workflow asks for that cannot be done yet is refused by name, before anything runs.

import { shown } from '../schema/diagnostic.ts';
import { missingFeatures } from '../schema/features.ts';
import type { Workflow } from '../schema/workflow.ts';
import { CliError, EXIT } from './command.ts';

export function refuseMissing(workflow: Workflow, file: string): void {
  const missing = missingFeatures(workflow);
  if (missing.length === 0) return;
  const lines = missing.map(
    ({ feature, stage }) => `${feature}${stage === null ? '' : ` (stage '${shown(stage)}')`}`,
  );
  throw new CliError({
    code: 'not-built-yet',
    message: `${shown(file)} asks for what cannot be done yet: ${lines.join(', ')}`,
    hint: 'nothing was run; remove it, or wait for a later version',
    exitCode: EXIT.failed,
  });
}
