// What `retry` and `invalidate` share: a workflow and what of it was named, asked of whoever owns the project, of a
// control plane elsewhere, or of the project's own database.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { shown } from '../schema/diagnostic.ts';
import { type AskedState, askedState } from './asked-state.ts';
import type { Invocation, Io } from './command.ts';
import { type ReachedWorkflow, reachWorkflow } from './look/reach-workflow.ts';
import { explained } from './refused.ts';
import { quoted } from './render/debug.ts';
import { stateNameOf } from './why/ask-why.ts';

export interface Asking {
  readonly reached: ReachedWorkflow;
  /** As the routes take them. */
  readonly param: { readonly workflow: string };
  readonly json: { readonly stage_id?: string; readonly entity_id?: string };
  /** As a person reads it. */
  readonly what: string;
  /** What is to be typed for it to happen; empty where somebody keeps the workflow fresh. */
  readonly next: string;
}

export async function askAgain<Answer>(
  { values, positionals, io }: Invocation,
  ask: (asking: Asking) => Promise<Answer>,
): Promise<Answer> {
  const [named, written] = positionals;
  const reached = await reachWorkflow(named!, values, io);
  try {
    const asked = written === undefined ? null : askedState(written, reached.stages);
    const { here, name } = reached;
    // What the last run found settled is not settled any more.
    if (here !== null) rmSync(join(here.own, 'clean'), { recursive: true, force: true });
    return await ask({
      reached,
      param: { workflow: encodeURIComponent(name) },
      json: bodyOf(asked),
      what: asked === null ? shown(name) : whatOf(asked, reached),
      next: here === null ? '' : `; next: sluice run ${quoted(named!)}`,
    });
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}

function bodyOf(asked: AskedState | null): Asking['json'] {
  if (asked === null) return {};
  const { stage, entity } = asked;
  return { stage_id: stage.id, ...(entity === null ? {} : { entity_id: entity }) };
}

function whatOf({ stage, entity }: AskedState, reached: ReachedWorkflow): string {
  if (entity === null) return `stage '${shown(stage.id)}'`;
  return stateNameOf({ workflow: reached.name, stage: stage.id, entity }, reached);
}

export function tell(io: Io, json: object | null, sentence: string): void {
  io.stdout.write(json === null ? `${sentence}\n` : `${JSON.stringify(json)}\n`);
}
