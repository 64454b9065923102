// What a workflow asks for that the engine cannot do yet, by name: refused before anything runs, never ignored.

import type { StageId } from './words.ts';
import { LOCAL } from './words.ts';
import { DEFAULT_POLICY, DEFAULT_RESOURCES, type Stage, type Workflow } from './workflow.ts';

export interface MissingFeature {
  readonly feature: string;
  /** Null if the whole file asks for it. */
  readonly stage: StageId | null;
}

export function missingFeatures(workflow: Workflow): readonly MissingFeature[] {
  const ofFile = present(
    [workflow.policy.validation !== DEFAULT_POLICY.validation, 'policy.validation: none'],
    [workflow.policy.onSourceRemoved !== DEFAULT_POLICY.onSourceRemoved, 'policy.on_source_removed: clean'],
    [workflow.policy.failure === 'collect_all', 'policy.failure: collect_all'],
    [workflow.maxConcurrent !== null, 'maxConcurrentEntities / max_concurrency'],
    [workflow.jobDependencies.length > 0, 'dependencies between jobs'],
    [workflow.secrets.length > 0, 'secrets'],
  );
  const ofStages = workflow.stages.flatMap((stage) =>
    ofStage(stage).map((feature) => ({ feature, stage: stage.id })),
  );
  return [...ofFile.map((feature) => ({ feature, stage: null })), ...ofStages];
}

function ofStage(stage: Stage): readonly string[] {
  const { action, resources, collect } = stage;
  return present(
    [action.kind === 'none' && stage.kind !== 'source', 'a stage without a command'],
    [action.kind === 'node', `nodes of typeId ${action.kind === 'node' ? action.node.typeId : ''}`],
    [action.kind === 'check', `the compliance check ${action.kind === 'check' ? action.check : ''}`],
    [action.kind === 'program', 'tasks of a job'],
    [stage.target !== LOCAL, `the target '${stage.target}'`],
    [stage.outs.some(({ remote }) => remote !== null), 'remote outs'],
    [stage.fanOut !== null, `parallel: ${stage.fanOut?.strategy}`],
    [stage.kind !== 'source' && stage.retry.retries > 0, 'retry'],
    [resources.cores !== DEFAULT_RESOURCES.cores, 'resources.cores'],
    [resources.memoryBytes > 0, 'resources.memory'],
    [resources.gpu > 0, 'resources.gpu'],
    [resources.diskBytes > 0, 'resources.disk_gb'],
    [Object.keys(resources.slots).length > 0, 'resources.slots'],
    [collect.maxWaitMs !== null, 'collect.max_wait'],
    [collect.onFailed !== 'block', 'collect.on_failed: omit'],
    [asks(stage.validation), 'validation'],
    [asks(stage.filter), 'filter'],
    [stage.priority !== 0, 'priority'],
  );
}

function asks({ minSize, minFiles }: Stage['validation']): boolean {
  return minSize !== null || minFiles !== null;
}

function present(...asked: readonly (readonly [boolean, string])[]): string[] {
  return asked.flatMap(([wanted, feature]) => (wanted ? [feature] : []));
}
