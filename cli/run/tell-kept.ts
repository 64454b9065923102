// Tells of states that a run left as they are although something differs: edited by hand, or frozen.

import { lookAtState } from '../../runner/look-at-state.ts';
import { preimageOf } from '../../runner/records.ts';
import { stateFiles } from '../../runner/state-files.ts';
import { comparePreimages, type Preimage } from '../../schema/key.ts';
import { explain, reasonFor } from '../../schema/reason.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import type { RunParts } from './run-parts.ts';
import type { RunScope } from './run-scope.ts';

export async function tellEdited({ ask, kept }: RunParts, inScope: RunScope): Promise<void> {
  for (const { stage: id, entity } of await ask.states({ status: 'edited' })) {
    const stage = kept.stages.get(id);
    if (stage === undefined || !inScope.has({ stage: id, entity }) || kept.has({ stage: id, entity }))
      continue;
    const reasons = [`edited by hand: ${editedNames(stage, entity)}; --force makes it again`];
    kept.report(stage, entity, { status: 'cached', reasons, error: null, seconds: 0 });
  }
}

function editedNames(stage: Stage, entity: string): string {
  const context = { workflow: { targets: {} } as never, root: '/', list: () => [] };
  return stateFiles(stage, entity as EntityId, context)
    .outs.map(({ name }) => name)
    .join(', ');
}

/** A frozen stage follows none of its inputs; that it is behind them is told all the same. */
export async function tellFrozen(parts: RunParts, inScope: RunScope): Promise<void> {
  const { request, tools, ask, kept, recipes } = parts;
  const { workflow } = request.loaded;
  const { root, machine } = tools;
  if (!workflow.stages.some(({ id, frozen }) => frozen && inScope.stages.includes(id))) return;
  for (const record of await ask.records()) {
    const stage = kept.stages.get(record.stage);
    if (
      stage === undefined ||
      !stage.frozen ||
      !inScope.has(record) ||
      kept.has(record) ||
      record.recipe === null
    )
      continue;
    const files = stateFiles(stage, record.entity as EntityId, { workflow, root, list: machine.list });
    const look = await lookAtState(files, {
      workflow,
      root,
      hash: machine.hash,
      hasher: machine.hasher,
      secretOf: machine.secretOf,
    });
    const recipe = await recipes.find(record.recipe);
    if (look.kind !== 'seen' || recipe === null || look.key.cacheKey === record.cache_key) continue;
    const before = preimageOf(recipe, record.deps as Preimage['deps'], look);
    const despite = comparePreimages(before, look.preimage).map((change) =>
      explain(reasonFor(change, new Map())),
    );
    const reasons = [despite.length === 0 ? 'frozen' : `frozen, kept despite: ${despite.join('; ')}`];
    kept.report(stage, record.entity, { status: 'cached', reasons, error: null, seconds: 0 });
  }
}
