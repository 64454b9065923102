// One run on one machine: stage by stage in order, a stage's entities side by side, each judged, then made if stale.

import { join, relative, resolve } from 'node:path';
import type { PathHasher } from '../../host/path-hash.ts';
import type { HashBytes } from '../../schema/blake3.ts';
import type { Dag } from '../../schema/dag.ts';
import { shown } from '../../schema/diagnostic.ts';
import { computeKey, hashMembers, type PathHash, type Preimage } from '../../schema/key.ts';
import type { Recipe, StateLock } from '../../schema/lock-file/shape.ts';
import { matchPattern, type Pattern } from '../../schema/pattern.ts';
import { explain, type Reason, stateName } from '../../schema/reason.ts';
import { judge, type StateFacts, type UpstreamFact, type Verdict } from '../../schema/verdict.ts';
import type { Blake3, EntityId, StageId } from '../../schema/words.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { type FoundState, findStates } from './find-states.ts';
import type { CurrentKey, LockRecords } from './lock-records.ts';
import type { MadeOutputs } from './made-outputs.ts';
import type { Made } from './make-state.ts';

export interface RunContext {
  readonly workflow: Workflow;
  readonly dag: Dag;
  /** The workflow's directory. */
  readonly root: string;
  readonly hash: HashBytes;
  readonly hasher: PathHasher;
  readonly lock: LockRecords;
  readonly made: MadeOutputs;
  readonly force: boolean;
  readonly jobs: number;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** The paths on disk that match, relative to the root unless the pattern is absolute. */
  readonly list: (pattern: Pattern) => readonly string[];
  readonly make: (state: FoundState) => Promise<Made>;
  readonly report: (result: StateResult) => void;
  /** Something new is in the lock file's records. */
  readonly recorded: () => void;
  readonly stageDone: () => void;
}

export interface StateResult {
  /** As a person reads it: `count_river` for the entity `river` of `count_{text}`. */
  readonly name: string;
  readonly stage: StageId;
  readonly entity: EntityId;
  readonly status: 'completed' | 'cached' | 'failed' | 'skipped' | 'waiting';
  readonly reasons: readonly string[];
  readonly error: string | null;
  readonly seconds: number;
}

export async function runWorkflow(context: RunContext): Promise<readonly StateResult[]> {
  const run = new Run(context);
  const stages = new Map(context.workflow.stages.map((stage) => [stage.id, stage]));
  for (const id of context.dag.order) {
    await run.settleStage(stages.get(id)!);
    context.stageDone();
  }
  return run.results;
}

type Settled = Pick<StateResult, 'status' | 'reasons' | 'error'>;

/** What has happened so far in this run, as far as later stages must know it. */
class Run {
  readonly results: StateResult[] = [];
  readonly #context: RunContext;
  /** Paths that an earlier state should have made and did not. */
  readonly #unsettled = new Map<string, FoundState>();
  readonly #failedStages = new Set<StageId>();
  readonly #ranStages = new Set<StageId>();
  /** By absolute path: who made it anew in this run. */
  readonly #remade = new Map<string, StageId>();
  #stopped = false;

  constructor(context: RunContext) {
    this.#context = context;
  }

  async settleStage(stage: Stage): Promise<void> {
    if (stage.kind === 'source') return;
    const states = findStates(stage, (pattern) => this.#listed(pattern));
    const pending = states[Symbol.iterator]();
    const worker = async () => {
      for (const state of pending) await this.#settle(state);
    };
    await Promise.all(Array.from({ length: Math.min(this.#context.jobs, states.length) }, worker));
  }

  #listed(pattern: Pattern): readonly string[] {
    const { list, root } = this.#context;
    const expected = [...this.#unsettled.keys()]
      .map((path) => (pattern.absolute ? path : relative(root, path)))
      .filter((path) => matchPattern(pattern, path) !== null);
    return [...new Set([...list(pattern), ...expected])];
  }

  async #settle(state: FoundState): Promise<void> {
    const { nowMs, report } = this.#context;
    const begun = nowMs();
    const settled = await this.#decide(state);
    const { id } = state.stage;
    if (settled.status === 'completed') this.#ranStages.add(id);
    if (settled.status !== 'completed' && settled.status !== 'cached') {
      this.#failedStages.add(id);
      for (const out of state.outs) this.#unsettled.set(resolve(this.#context.root, out), state);
    }
    const seconds = (nowMs() - begun) / 1_000;
    const result = { name: nameOf(state), stage: id, entity: state.entity, ...settled, seconds };
    this.results.push(result);
    report(result);
  }

  async #decide(state: FoundState): Promise<Settled> {
    if (this.#stopped || this.#context.signal.aborted) return skipped(['the run was stopped before it']);
    const look = this.#look(state);
    if ('unreadable' in look) return this.#failed(look.unreadable, []);
    const { current, missing } = look;
    const verdict = judge(this.#factsOf(state, current, missing));
    switch (verdict.verdict) {
      case 'fresh':
        // Without its inputs there is no key to adopt the output under; it is kept all the same.
        if (verdict.adopt && current !== null) this.#record(state, current, begunNow(this.#context));
        return cached(verdict.frozen ? [frozenReason(verdict.despite)] : []);
      case 'skipped':
        return cached([]);
      case 'edited':
        return cached([`edited by hand: ${verdict.paths.join(', ')}; --force makes it again`]);
      case 'blocked':
        return skipped([`waits for ${verdict.by.map(({ stage }) => stage).join(', ')}`]);
      case 'waiting':
        return waiting(verdict);
      case 'stale':
      case 'exhausted':
        return this.#make(state, current!, verdict.reasons);
    }
  }

  async #make(state: FoundState, current: CurrentKey, reasons: readonly Reason[]): Promise<Settled> {
    const { make, made, root, workflow } = this.#context;
    const told = reasons.map(explain);
    const begun = begunNow(this.#context);
    made.forget(state.outs.map((out) => resolve(root, out)));
    const outcome = await make(state);
    if (outcome.kind === 'cancelled') return skipped(['the run was stopped while it ran']);
    const error = outcome.kind === 'failed' ? outcome.error : this.#record(state, current, begun);
    if (error === null) return { status: 'completed', reasons: told, error: null };
    if (workflow.policy.failure === 'stop_on_first') this.#stopped = true;
    return this.#failed(error, told);
  }

  #failed(error: string, reasons: readonly string[]): Settled {
    return { status: 'failed', reasons, error };
  }

  /** Hashes every input and out as they are now; a missing input leaves the key open. */
  #look(state: FoundState): Look | { readonly unreadable: string } {
    const missing: string[] = [];
    const deps: PathHash[] = [];
    const code: PathHash[] = [];
    for (const { name, collected, paths } of state.inputs) {
      const members: PathHash[] = [];
      for (const path of paths) {
        const hash = this.#hashOf(path);
        if (hash === null) missing.push(path);
        else if (typeof hash === 'object') return hash;
        else members.push({ path, hash });
      }
      if (collected && paths.length === 0) missing.push(name);
      if (members.length === 0) continue;
      deps.push({
        path: name,
        hash: collected ? hashMembers(this.#context.hash, members) : members[0]!.hash,
      });
    }
    for (const path of state.stage.code) {
      const hash = this.#hashOf(path);
      if (hash === null) missing.push(path);
      else if (typeof hash === 'object') return hash;
      else code.push({ path, hash });
    }
    if (missing.length > 0) return { current: null, missing };
    const params = Object.fromEntries(
      state.stage.params.map((name) => [name, this.#context.workflow.params[name]!]),
    );
    const preimage: Preimage = { action: state.stage.action, code, params, deps };
    return { current: { key: computeKey(this.#context.hash, preimage), preimage }, missing };
  }

  #hashOf(path: string): Blake3 | null | { readonly unreadable: string } {
    const content = this.#context.hasher.hashPath(resolve(this.#context.root, path));
    if (content.kind === 'missing') return null;
    return content.kind === 'unreadable'
      ? { unreadable: `${content.path}: ${content.reason}` }
      : content.hash;
  }

  #factsOf(state: FoundState, current: CurrentKey | null, missing: readonly string[]): StateFacts {
    const { lock, force, nowMs, root, made } = this.#context;
    const { stage } = state;
    const records = current === null ? [] : lock.recordsOf(stage, state.entity, current);
    const outs = state.outs.map((path) => {
      const hash = this.#hashOf(path);
      return { path, hash: typeof hash === 'object' ? null : hash };
    });
    const recorded = new Map(records.flatMap((record) => record.outs.map(({ path, hash }) => [path, hash])));
    const isOurs = (path: string) =>
      recorded.has(path) && made.hashAt(resolve(root, path)) === recorded.get(path);
    const upstream = this.#upstreamOf(state);
    return {
      current,
      records,
      hasLockFile: lock.existed,
      outs,
      editable: outs.length > 0 && outs.every(({ path }) => isOurs(path)),
      frozen: stage.frozen,
      due: this.#isDue(stage),
      forced: force,
      invalidatedBy: null,
      // What an earlier stage failed to make is not missing but blocked.
      missing: upstream.some(({ status }) => status === 'gave-up') ? [] : missing,
      upstream,
      failure: null,
      nowMs: nowMs(),
    };
  }

  #isDue(stage: Stage): boolean {
    if (!stage.deterministic) return true;
    if (stage.kind !== 'action') return false;
    const nothingBefore = stage.deps.length === 0 && stage.after.length === 0;
    return nothingBefore || stage.after.some((id) => this.#ranStages.has(id));
  }

  #upstreamOf(state: FoundState): UpstreamFact[] {
    const facts: UpstreamFact[] = state.stage.after
      .filter((id) => this.#failedStages.has(id))
      .map((stage) => ({ stage, entity: '' as EntityId, status: 'gave-up', reran: [] }));
    for (const { name, paths } of state.inputs) {
      for (const path of paths.map((each) => resolve(this.#context.root, each))) {
        const inside = name.endsWith('/') ? join(path, '/') : null;
        for (const [out, { stage, entity }] of this.#unsettled) {
          if (out === path || (inside !== null && out.startsWith(inside)))
            facts.push({ stage: stage.id, entity, status: 'gave-up', reran: [] });
        }
        const maker = this.#remade.get(path);
        if (maker) facts.push({ stage: maker, entity: state.entity, status: 'settled', reran: [name] });
      }
    }
    return facts;
  }

  /** The error if an out cannot be vouched for; else the state is in the lock file. */
  #record(state: FoundState, { key, preimage }: CurrentKey, begunMs: number): string | null {
    const { root, made, lock, nowMs } = this.#context;
    const outs: StateLock['outs'] = [];
    for (const path of state.outs) {
      const content = this.#context.hasher.hashPath(resolve(root, path));
      if (content.kind === 'missing') return `did not make ${path}`;
      if (content.kind === 'unreadable') return `${content.path}: ${content.reason}`;
      const counted = content.kind === 'directory' ? { file_count: content.files } : {};
      outs.push({ path, hash: content.hash, ...counted, total_bytes: content.size });
      made.remember(resolve(root, path), content.hash);
      this.#remade.set(resolve(root, path), state.stage.id);
    }
    const times = {
      started_at: new Date(begunMs).toISOString(),
      completed_at: new Date(nowMs()).toISOString(),
      duration_seconds: Math.round(nowMs() - begunMs) / 1_000,
    };
    const params = Object.entries(preimage.params).map(([name, value]) => [name, { value }] as const);
    const recipe: Recipe = {
      target: state.stage.target,
      params_hash: key.paramsHash,
      params: new Map(params),
      cmd_hash: key.cmdHash,
      code: [...preimage.code],
    };
    const entry: StateLock = {
      status: 'completed',
      ...times,
      deps: [...preimage.deps],
      outs,
      deps_hash: key.depsHash,
      cache_key: key.cacheKey,
    };
    lock.set(state.stage, state.entity, { state: entry, recipe });
    this.#context.recorded();
    return null;
  }
}

/** SEMANTICS 12: a stage whose name has all of its variables is shown with their values in place. */
function nameOf({ stage, entity, bindings }: FoundState): string {
  const { id, variables } = stage;
  if (variables.length === 0 || !variables.every((name) => id.includes(`{${name}}`)))
    return stateName(id, entity);
  return shown(
    variables.reduce<string>((name, each) => name.replace(`{${each}}`, () => bindings[each]!), id),
  );
}

interface Look {
  readonly current: CurrentKey | null;
  readonly missing: readonly string[];
}

function begunNow({ nowMs }: RunContext): number {
  return nowMs();
}

function frozenReason(despite: readonly Reason[]): string {
  return despite.length === 0 ? 'frozen' : `frozen, kept despite: ${despite.map(explain).join('; ')}`;
}

function cached(reasons: readonly string[]): Settled {
  return { status: 'cached', reasons, error: null };
}

function skipped(reasons: readonly string[]): Settled {
  return { status: 'skipped', reasons, error: null };
}

function waiting({ cause }: Extract<Verdict, { verdict: 'waiting' }>): Settled {
  const reason =
    cause.wait === 'missing'
      ? `missing ${cause.paths.join(', ')}`
      : cause.wait === 'retry'
        ? 'waits for its retry time'
        : `frozen, but ${cause.paths.join(', ')} is not there; --force makes it`;
  return { status: 'waiting', reasons: [reason], error: null };
}
