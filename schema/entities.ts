// How a stage's deps and outs bind its entities: which dep drives, which are shared, which are collected.

import type { DepBinding } from './workflow.ts';

export interface Binding {
  /** In the order of the driver's pattern: the order in which they make the entity's id. */
  readonly variables: readonly string[];
  readonly driver: number | null;
  readonly deps: readonly DepBinding[];
}

export type BindingResult =
  | { readonly ok: true; readonly binding: Binding }
  | ({ readonly ok: false } & BindingProblem);

export interface BindingProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** Which list and entry the mistake is in. */
  readonly at: { readonly list: 'deps' | 'outs'; readonly index: number };
}

/** Takes the variables of each dep and each out, in file order. */
export function bindEntities(deps: readonly Variables[], outs: readonly Variables[]): BindingResult {
  const wanted = outs[0] ?? deps.find((variables) => variables.length > 0) ?? [];
  const uneven = outs.findIndex((variables) => !sameSet(variables, wanted));
  if (uneven > 0) return unevenOuts(outs, wanted, uneven);
  if (wanted.length === 0) {
    return {
      ok: true,
      binding: { variables: [], driver: null, deps: deps.map((variables) => bindingOf(variables, [])) },
    };
  }
  const driver = deps.findIndex((variables) => wanted.every((name) => variables.includes(name)));
  if (driver < 0) return unbound(deps, wanted);
  const variables = deps[driver]!.filter((name) => wanted.includes(name));
  return { ok: true, binding: { variables, driver, deps: deps.map((own) => bindingOf(own, variables)) } };
}

type Variables = readonly string[];

/** Same variables: one to one. Fewer: shared by many entities. Any that the stage lacks: collected over those. */
function bindingOf(own: Variables, stage: Variables): DepBinding {
  if (own.some((name) => !stage.includes(name))) return 'collected';
  return own.length === stage.length && stage.length > 0 ? 'one' : 'shared';
}

function unevenOuts(outs: readonly Variables[], wanted: Variables, index: number): BindingResult {
  const missing = wanted.filter((name) => !outs[index]!.includes(name));
  const extra = outs[index]!.filter((name) => !wanted.includes(name));
  return {
    ok: false,
    code: 'uneven-outs',
    message:
      missing.length > 0
        ? `this out lacks ${braced(missing)}, so every entity would write the same path`
        : `this out has ${braced(extra)}, which the first out lacks`,
    hint: 'give every out of a stage the same variables, or make the other file in a stage of its own',
    at: { list: 'outs', index },
  };
}

function unbound(deps: readonly Variables[], wanted: Variables): BindingResult {
  const nowhere = wanted.filter((name) => !deps.some((variables) => variables.includes(name)));
  if (nowhere.length > 0) {
    return {
      ok: false,
      code: 'unbound-variable',
      message: `no dep says which values ${braced(nowhere)} can take`,
      hint: `use ${braced(nowhere)} in the path of a dep (in a pipeline, of the input), for example data/${wanted.map((name) => `{${name}}`).join('/')}.txt`,
      at: { list: 'outs', index: 0 },
    };
  }
  return {
    ok: false,
    code: 'entity-product',
    message: `no single dep has all of ${braced(wanted)}: combining the values of several deps is not supported`,
    hint: 'let one dep name every variable of the outs; the others may use some of them',
    at: { list: 'outs', index: 0 },
  };
}

function sameSet(a: Variables, b: Variables): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

function braced(names: Variables): string {
  return names.map((name) => `{${name}}`).join(', ');
}
