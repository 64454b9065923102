// What a workflow asks for that the engine cannot do yet, by name: refused before anything runs, never ignored.

import type { StageId } from './words.ts';
import { LOCAL } from './words.ts';
import type { Stage, Workflow } from './workflow.ts';

export interface MissingFeature {
  readonly feature: string;
  /** Null if the whole file asks for it. */
  readonly stage: StageId | null;
  /** A runner on another machine does it, so only one that works alone refuses it. */
  readonly elsewhere: boolean;
}

export function missingFeatures(workflow: Workflow): readonly MissingFeature[] {
  const ofFile = present([workflow.jobDependencies.length > 0, 'dependencies between jobs']);
  const ofStages = workflow.stages.flatMap((stage) => [
    ...ofStage(stage).map((feature) => ({ feature, stage: stage.id, elsewhere: false })),
    ...onOthers(stage).map((feature) => ({ feature, stage: stage.id, elsewhere: true })),
  ]);
  return [...ofFile.map((feature) => ({ feature, stage: null, elsewhere: false })), ...ofStages];
}

function ofStage(stage: Stage): readonly string[] {
  const { action } = stage;
  return present(
    [action.kind === 'none' && stage.kind !== 'source', 'a stage without a command'],
    [action.kind === 'check', `the compliance check ${action.kind === 'check' ? action.check : ''}`],
    [stage.condition !== 'all_success', `condition: ${stage.condition}`],
  );
}

function onOthers(stage: Stage): readonly string[] {
  return present(
    [stage.target !== LOCAL, `the target '${stage.target}'`],
    [stage.outs.some(({ remote }) => remote !== null), 'remote outs'],
  );
}

function present(...asked: readonly (readonly [boolean, string])[]): string[] {
  return asked.flatMap(([wanted, feature]) => (wanted ? [feature] : []));
}
