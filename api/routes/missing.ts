// What to say when a look found nothing: which of the names is wrong, and what was probably meant.

import type { Problem } from '../http/problem.ts';
import { findStage, findWorkflow, unknown } from '../known-workflow.ts';
import { nearEntities } from '../store/near-entities.ts';
import type { Store } from '../store/store.ts';

interface Named {
  readonly workflow: string;
  readonly stage?: string | undefined;
  readonly entity?: string | undefined;
}

/** Throws at the first name that is wrong; if none is, the stage has no such entity. */
export async function missing(store: Store, { workflow, stage, entity = '' }: Named): Promise<Problem> {
  const of = findWorkflow(await store.registered.checked(), workflow);
  if (stage !== undefined) findStage(of, stage);
  const near = await nearEntities(store, of.id, entity);
  return unknown(
    'entity',
    entity,
    near.filter((name) => name !== entity),
  );
}
