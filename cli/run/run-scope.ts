// What a run is about: whole stages, or one state with what it needs, which only the control plane can tell.

import { nearest, shown } from '../../schema/diagnostic.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import { CliError } from '../command.ts';
import type { Ask } from './ask.ts';
import { keyOf, type NamedState } from './state-key.ts';

export interface AskedScope {
  readonly stage: string | undefined;
  /** Undefined is all of the stage. */
  readonly entity: string | undefined;
  readonly force: boolean;
}

export interface RunScope {
  readonly stages: readonly string[];
  readonly has: (state: NamedState) => boolean;
  /** Null if it is whole stages, which are counted and not listed. */
  readonly states: readonly StateAnswer[] | null;
}

/** As it is now: making a directory may bring more states to be seen to. */
export async function readScope(
  ask: Ask,
  { stage, entity, force }: AskedScope,
  stages: readonly string[],
): Promise<RunScope> {
  const whole = new Set(stages);
  if (stage === undefined || entity === undefined)
    return { stages, has: (state) => whole.has(state.stage), states: null };
  const states = await ask.states({ stage, entity, scope: force ? 'forced' : 'run' });
  const keys = new Set(states.map(keyOf));
  return { stages, has: (state) => keys.has(keyOf(state)), states };
}

/** As a claim says it. */
export function onlyOf(workflow: string, { stage, entity, force }: AskedScope) {
  return stage === undefined || entity === undefined ? {} : { only: { workflow, stage, entity, force } };
}

export async function refuseUnknownState(ask: Ask, { stage, entity }: AskedScope): Promise<void> {
  if (stage === undefined || entity === undefined) return;
  const known = (await ask.states({ stage })).map((state) => state.entity);
  if (known.includes(entity)) return;
  const close = nearest(entity, known);
  const few = known.slice(0, 8).map(shown).join(', ');
  const those = known.length === 0 ? 'it has none yet' : `it has ${few}${known.length > 8 ? ', …' : ''}`;
  throw new CliError({
    code: 'unknown-state',
    message: `stage '${shown(stage)}' has no '${shown(entity)}'; ${those}`,
    hint:
      close === undefined
        ? `its states are those of the files that it reads; --stage '${shown(stage)}' makes them all`
        : `did you mean '${shown(stage)}@${shown(close)}'?`,
  });
}
