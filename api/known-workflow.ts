// Finds what a request names, or says that there is none and what was probably meant.

import { nearest, shown } from '../schema/diagnostic.ts';
import { Problem } from './http/problem.ts';
import type { KnownWorkflow, Registered } from './store/registered.ts';

export function findWorkflow({ workflows }: Registered, name: string): KnownWorkflow {
  const known = workflows.get(name);
  if (known !== undefined) return known;
  throw unknown('workflow', name, [...workflows.keys()]);
}

export function findStage({ workflow }: KnownWorkflow, id: string): void {
  const ids = workflow.stages.map((stage) => stage.id as string);
  if (!ids.includes(id)) throw unknown('stage', id, ids);
}

export function unknown(
  what: 'workflow' | 'stage' | 'entity' | 'run' | 'definition',
  name: string,
  known: readonly string[],
): Problem {
  const near = nearest(name, known);
  return new Problem({
    status: 404,
    code: `unknown-${what}`,
    message: `there is no ${what} '${shown(name.slice(0, 200))}'`,
    hint:
      near === undefined ? `list what there is, then ask for one of those` : `did you mean '${shown(near)}'?`,
    ...(near === undefined ? {} : { extra: { nearest: near } }),
  });
}
