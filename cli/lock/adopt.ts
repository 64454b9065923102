// Takes what is on disk as made from what is on disk, and runs nothing (SEMANTICS 6).

import { answerOf } from '../../host/client.ts';
import { hashOuts } from '../../runner/hash-outs.ts';
import { lookAtState } from '../../runner/look-at-state.ts';
import { type StateFiles, stateFiles } from '../../runner/state-files.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import type { EntityId } from '../../schema/words.ts';
import { checkStale, recipeReader, remembered, type Unmade } from '../look/check-stale.ts';
import type { Here } from '../look/look-here.ts';
import { entryFromRecord } from '../run/lock-entries.ts';
import { nameOf } from '../run/results.ts';
import { keepTrees } from './keep-trees.ts';

export interface Adopted {
  readonly adopted: readonly string[];
  readonly notAdopted: readonly { readonly name: string; readonly because: string }[];
  /** States in the lock file now. */
  readonly locked: number;
  readonly isWritten: boolean;
}

export async function adoptOutputs(here: Here): Promise<Adopted> {
  const { loaded, ask, lock } = here;
  const { workflow } = loaded;
  await reopen(here);
  const adopted: StateFiles[] = [];
  const stages = workflow.stages.filter(({ kind }) => kind === 'transform').map(({ id }) => id);
  const adopt = (each: Unmade) => {
    if (each.judged.kind !== 'stale' || each.judged.outs.length < each.files.outs.length) return false;
    adopted.push(each.files);
    return true;
  };
  const unmade = await checkStale(here, stages, { adopt });
  keepTrees(adopted, here);
  const states = await ask.states({});
  const before = lock.bytes;
  await writeLock(here, states);
  return {
    adopted: adopted.map(({ stage, entity }) => nameOf(stage, entity)),
    notAdopted: [...unmade.map(whyNot), ...stillWaiting(here, states, unmade)],
    locked: lock.entries().length,
    isWritten: lock.bytes !== before,
  };
}

/** What was edited or failed is settled in its way; what is there now may still be taken, if all of it is there. */
async function reopen(here: Here): Promise<void> {
  const { ask, client, loaded, root, machine } = here;
  const { workflow } = loaded;
  const context = { workflow, root, list: remembered(machine.list) };
  const words = ['edited', 'failed', 'exhausted'] as const;
  for (const { stage: id, entity } of (
    await Promise.all(words.map((status) => ask.states({ status })))
  ).flat()) {
    const stage = workflow.stages.find((each) => each.id === id);
    if (stage === undefined || stage.kind !== 'transform') continue;
    const files = stateFiles(stage, entity as EntityId, context);
    const look = await lookAtState(files, {
      workflow,
      root,
      hash: machine.hash,
      hasher: machine.hasher,
      secretOf: machine.secretOf,
    });
    const outs = await hashOuts(files, machine);
    if (look.kind !== 'seen' || outs.length < files.outs.length) continue;
    await answerOf(
      client.api.pipeline[':workflow'].invalidate.$post({
        param: { workflow: encodeURIComponent(workflow.name) },
        json: { stage_id: id, entity_id: entity },
      }),
    );
  }
}

function whyNot({ files, judged }: Unmade): Adopted['notAdopted'][number] {
  const name = nameOf(files.stage, files.entity);
  if (judged.kind === 'unusable') return { name, because: judged.reason };
  const there = new Set(judged.outs.map(({ path }) => path));
  const gone = files.outs.filter(({ path }) => !there.has(path)).map(({ name: out }) => out);
  return { name, because: `not there: ${gone.join(', ')}` };
}

function stillWaiting(
  { loaded }: Here,
  states: readonly StateAnswer[],
  unmade: readonly Unmade[],
): Adopted['notAdopted'] {
  const told = new Set(unmade.map(({ item }) => `${item.stage}\0${item.entity}`));
  return states.flatMap(({ stage: id, entity, status, error }) => {
    const stage = loaded.workflow.stages.find((each) => each.id === id);
    if (stage?.kind !== 'transform' || told.has(`${id}\0${entity}`)) return [];
    if (!['stale', 'waiting', 'failed', 'exhausted'].includes(status)) return [];
    const because = error === null ? 'something it is made from is not there' : `it failed: ${error}`;
    return [{ name: nameOf(stage, entity as EntityId), because }];
  });
}

async function writeLock(here: Here, states: readonly StateAnswer[]): Promise<void> {
  const { ask, loaded, lock, root, machine } = here;
  const recipe = recipeReader(here);
  for (const { id } of loaded.workflow.stages) {
    const known = states.filter(({ stage, status }) => stage === id && status !== 'orphan');
    lock.keepOnly(id, new Set(known.map(({ entity }) => entity)));
  }
  const locked = new Map(
    lock
      .entries()
      .map(({ stage, entity, state }) => [`${stage}\0${entity}`, madeOf(state.cache_key, state.outs)]),
  );
  const context = { workflow: loaded.workflow, root, list: () => [] };
  for (const record of await ask.records()) {
    const stage = loaded.workflow.stages.find(({ id }) => id === record.stage);
    const isKnown = locked.get(`${record.stage}\0${record.entity}`) === madeOf(record.cache_key, record.outs);
    const made = record.recipe === null ? null : await recipe(record.recipe);
    if (stage === undefined || made === null || isKnown) continue;
    const files = stateFiles(stage, record.entity as EntityId, context);
    const names = new Map(files.outs.map(({ path, name }) => [path, name]));
    const outs = record.outs.map((out) => ({
      ...out,
      size: out.size ?? 0,
      name: names.get(out.path) ?? out.path,
    }));
    const producedMs = record.produced_at === null ? Date.now() : Date.parse(record.produced_at);
    const parts = { stage, recipe: made, deps: record.deps, outs, cacheKey: record.cache_key };
    const entry = entryFromRecord(machine.hash, { ...parts, skipped: record.skipped, producedMs });
    lock.set(stage, record.entity, entry);
  }
  lock.save(Date.now());
  lock.remember({ isComplete: true });
}

/** The same key may have given other bytes, as after an edit. */
function madeOf(cacheKey: string, outs: readonly { readonly hash: string }[]): string {
  return [cacheKey, ...outs.map(({ hash }) => hash)].join(' ');
}
