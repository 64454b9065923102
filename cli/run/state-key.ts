// How a run tells one state from another in its own memory, and what it writes of it beside the workflow.

export interface NamedState {
  readonly stage: string;
  readonly entity: string;
}

export function keyOf({ stage, entity }: NamedState): string {
  return `${stage}\0${entity}`;
}

/** As an event names it: a stage without variables has no entity to tell. */
export function eventStateOf({ stage, entity }: NamedState) {
  return entity === '' ? { stage } : { stage, entity };
}

export function now(): string {
  return new Date().toISOString();
}
