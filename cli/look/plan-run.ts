// What a run would do, from what is known before it: which states would be made and why, and which would follow them.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FilesContext, type StateFiles, stateFiles } from '../../runner/state-files.ts';
import type { Dag } from '../../schema/dag.ts';
import { placePattern, rootOn } from '../../schema/discovery/place.ts';
import { matchPattern, type Pattern, parsePattern } from '../../schema/pattern.ts';
import type { StateAnswer } from '../../schema/read-answers.ts';
import { explain } from '../../schema/reason.ts';
import type { EntityId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import { nameOf } from '../run/results.ts';
import type { Unmade } from './check-stale.ts';

export interface PlannedState {
  readonly name: string;
  readonly stage: string;
  readonly entity: string;
  readonly status: 'would_run' | 'would_follow' | 'waiting';
  readonly reasons: readonly string[];
}

export interface Plan {
  readonly states: readonly PlannedState[];
  readonly cached: number;
  /** They come after something that would run, and which states they will have depends on what it makes. */
  readonly unknownStages: readonly string[];
}

export interface PlanFacts {
  readonly scope: {
    readonly scope: readonly string[];
    readonly forced: readonly string[];
    readonly due: readonly string[];
  };
  /** Of every stage in scope. */
  readonly states: readonly StateAnswer[];
  readonly unmade: readonly Unmade[];
  readonly dag: Dag;
  readonly files: FilesContext;
}

export function planRun(facts: PlanFacts): Plan {
  const { scope, states, dag, files } = facts;
  const made = new MadePaths();
  const planned: PlannedState[] = [];
  const unknownStages: string[] = [];
  const active = new Set<string>();
  const unmade = new Map(facts.unmade.map((each) => [stateKey(each.item), each]));
  for (const id of dag.order.filter((each) => scope.scope.includes(each))) {
    const stage = files.workflow.stages.find((each) => each.id === id)!;
    const own = states.filter((state) => state.stage === id && state.status !== 'orphan');
    const before = (dag.upstream.get(id) ?? []).filter((each) => active.has(each));
    if (own.length === 0 && before.length > 0) {
      unknownStages.push(id);
      active.add(id);
    }
    const follows = made.followers(stage, files);
    for (const state of own.sort(byEntity)) {
      const paths = stateFiles(stage, state.entity as EntityId, files);
      const how = planState({
        ...{ state, stage, paths, scope, active },
        ...{ unmade: unmade.get(stateKey(state)), follows: follows(paths) },
      });
      if (how === null) continue;
      const name = nameOf(stage, state.entity as EntityId);
      planned.push({ name, stage: id, entity: state.entity, ...how });
      if (how.status === 'waiting') continue;
      active.add(id);
      made.add(paths, name);
    }
  }
  const cached = states.filter(({ status }) => status !== 'orphan').length - planned.length;
  return { states: planned, cached, unknownStages };
}

interface Around {
  readonly state: StateAnswer;
  readonly stage: Stage;
  readonly paths: StateFiles;
  readonly scope: PlanFacts['scope'];
  readonly unmade: Unmade | undefined;
  /** The state whose output it reads and that would be made. */
  readonly follows: string | null;
  /** Stages of which something would be made. */
  readonly active: ReadonlySet<string>;
}

/** Null if nothing would happen to it. */
function planState(around: Around): Pick<PlannedState, 'status' | 'reasons'> | null {
  const { state, stage, paths, unmade, follows, active } = around;
  const { forced, due } = around.scope;
  if (forced.includes(stage.id)) return wouldRun([explain({ reason: 'forced' })]);
  if (unmade?.judged.kind === 'unusable') return { status: 'waiting', reasons: [unmade.judged.reason] };
  if (unmade !== undefined) return wouldRun(unmade.judged.reasons);
  if (stage.frozen || state.status === 'edited') return null;
  if (due.includes(stage.id)) return wouldRun([explain({ reason: 'always-due' })]);
  if (follows !== null) return { status: 'would_follow', reasons: [`follows ${follows}`, ...told(state)] };
  const after = stage.after.find((each) => active.has(each));
  if (after !== undefined && (stage.kind === 'action' || state.status !== 'fresh'))
    return { status: 'would_follow', reasons: [`comes after ${after}`] };
  switch (state.status) {
    case 'stale':
    case 'failed':
    case 'exhausted':
      return wouldRun(state.reasons);
    case 'waiting':
    case 'running':
      return { status: 'waiting', reasons: missing(paths) };
    default:
      return null;
  }
}

function wouldRun(reasons: readonly string[]): Pick<PlannedState, 'status' | 'reasons'> {
  return { status: 'would_run', reasons };
}

function told({ status, reasons }: StateAnswer): readonly string[] {
  return status === 'fresh' ? [] : reasons.filter((each) => !/new stage$|first run$/.test(each));
}

function missing({ inputs }: StateFiles): string[] {
  const gone = inputs.flatMap(({ name, collected, paths }) =>
    (collected ? paths.length === 0 : paths.some((path) => !existsSync(path))) ? [name] : [],
  );
  return gone.length === 0 ? ['something it needs is not settled'] : [`missing ${gone.join(', ')}`];
}

function stateKey({ stage, entity }: { readonly stage: string; readonly entity: string }): string {
  return `${stage}\0${entity}`;
}

function byEntity(a: StateAnswer, b: StateAnswer): number {
  return a.entity < b.entity ? -1 : a.entity > b.entity ? 1 : 0;
}

/** What would be made, to be found by those who read it. */
class MadePaths {
  readonly #byPath = new Map<string, string>();
  readonly #byFolder = new Map<string, string>();

  add({ outs }: StateFiles, name: string): void {
    for (const { path } of outs) {
      this.#byPath.set(path, name);
      for (const folder of foldersOf(path)) this.#byFolder.set(folder, name);
    }
  }

  /** Asked once per stage: its collected deps are matched with all that would be made, not state by state. */
  followers(stage: Stage, files: FilesContext): (paths: StateFiles) => string | null {
    const collected = stage.deps
      .filter(({ binding }) => binding === 'collected')
      .map(({ path }) => this.#members(placed(path, stage, files), stage));
    return ({ inputs, bindings }) => {
      for (const { name, of } of collected) {
        const found = of.get(keyOf(name, bindings));
        if (found !== undefined) return found;
      }
      for (const path of inputs.filter((input) => !input.collected).flatMap((input) => input.paths)) {
        const found = this.#byPath.get(path) ?? this.#byFolder.get(path) ?? this.#above(path);
        if (found !== undefined) return found;
      }
      return null;
    };
  }

  #members(pattern: Pattern, stage: Stage) {
    const common = pattern.variables.filter((each) => stage.variables.includes(each));
    const of = new Map<string, string>();
    for (const [path, name] of this.#byPath) {
      const bindings = matchPattern(pattern, path);
      if (bindings !== null) of.set(keyOf(common, bindings), name);
    }
    return { name: common, of };
  }

  #above(path: string): string | undefined {
    for (const folder of foldersOf(path)) {
      const found = this.#byPath.get(folder);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function placed(path: string, stage: Stage, files: FilesContext): Pattern {
  const parsed = parsePattern(path);
  if (!parsed.ok) throw new Error(`not a pattern after loading: ${path}`);
  return placePattern(parsed.pattern, rootOn(files, stage.target));
}

function keyOf(names: readonly string[], bindings: Readonly<Record<string, string>>): string {
  return names.map((name) => bindings[name] ?? '').join('\0');
}

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders;
}
