// What a workflow asks for that cannot be done, yet or ever, is refused by name, before anything runs.

import { nodeProblems } from '../runner/nodes/table.ts';
import { shown } from '../schema/diagnostic.ts';
import { missingFeatures } from '../schema/features.ts';
import type { Workflow } from '../schema/workflow.ts';
import { CliError, EXIT } from './command.ts';

export function refuseMissing(workflow: Workflow, file: string): void {
  refuseWrongNodes(workflow, file);
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

/** No attempt could go well, so none is made. */
function refuseWrongNodes({ stages }: Workflow, file: string): void {
  const wrong = stages.flatMap(({ id, action }) =>
    action.kind === 'node'
      ? nodeProblems(action.node, action.whenTrue).map((problem) => `stage '${shown(id)}': ${problem}`)
      : [],
  );
  if (wrong.length === 0) return;
  throw new CliError({
    code: 'wrong-node',
    message: `${shown(file)}: ${wrong.join('\n        ')}`,
    hint: 'nothing was run; mend what is named',
    exitCode: EXIT.invalid,
  });
}
