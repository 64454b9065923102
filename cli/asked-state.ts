// The stage or state that was named on the command line, or the mistake in naming it.

import { shown } from '../schema/diagnostic.ts';
import { readStateArgument } from '../schema/state-argument.ts';
import type { EntityId } from '../schema/words.ts';
import type { Stage } from '../schema/workflow.ts';
import { CliError } from './command.ts';

export interface AskedState {
  readonly stage: Stage;
  /** Null if the stage was named as a whole. */
  readonly entity: EntityId | null;
}

export function askedState(written: string, stages: readonly Stage[]): AskedState {
  const found = readStateArgument(written, stages);
  switch (found.kind) {
    case 'stage':
      return { stage: found.stage, entity: null };
    case 'state':
      return { stage: found.stage, entity: found.entity };
    case 'ambiguous':
      throw new CliError({
        code: 'ambiguous-stage',
        message: `'${shown(written)}' may be of ${found.stages.map((id) => `'${shown(id)}'`).join(' or ')}`,
        hint: found.hint,
      });
    case 'unknown':
      throw new CliError({
        code: 'unknown-stage',
        message: `there is no stage '${shown(written)}'`,
        hint: found.hint,
      });
  }
}
