// One run in this process: the control plane, the watcher's look and the runner, composed around one workflow.
//
//   register ──▶ look at the disk ──▶ take the lock file's records ──▶ begin the run
//       ──▶ work until nothing is left ──▶ tell how every state came out

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answerOf, type Client } from '../../host/client.ts';
import { type Capacity, neverFits } from '../../runner/capacity.ts';
import { lookAtState } from '../../runner/look-at-state.ts';
import { Manifests } from '../../runner/manifest.ts';
import { resolveHost } from '../../runner/nodes/send-http.ts';
import { performWork } from '../../runner/perform-work.ts';
import type { Performed } from '../../runner/performed.ts';
import { preimageOf, type RecordedRecipe, recipeOf } from '../../runner/records.ts';
import { stateFiles } from '../../runner/state-files.ts';
import { workBase } from '../../runner/work-dir.ts';
import { type Answer, WorkPool } from '../../runner/work-pool.ts';
import { comparePreimages, type Preimage } from '../../schema/key.ts';
import { explain, reasonFor } from '../../schema/reason.ts';
import type { EntityId, Json, StageId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import { send } from '../../watcher/report.ts';
import { CliError, EXIT, type Io } from '../command.ts';
import { inProcess } from '../control-plane.ts';
import { type LoadedWorkflow, stemOf } from '../load-file.ts';
import { explained } from '../refused.ts';
import type { LiveProgress } from '../render/live-progress.ts';
import type { Ended } from '../render/progress.ts';
import { Ask } from './ask.ts';
import { EventLog } from './event-log.ts';
import { keepClean } from './keep-clean.ts';
import { entryFromRecord, entryOf } from './lock-entries.ts';
import { LockRecords } from './lock-records.ts';
import {
  importLock,
  look,
  RUNNER,
  register,
  rememberLock,
  TARGET,
  type Watching,
  watchingOf,
} from './look.ts';
import { type Machine, openMachine } from './machine.ts';
import { openState } from './open-state.ts';
import { inOrder, nameOf, type StateResult } from './results.ts';
import { Saving } from './saving.ts';
import { unsettledResults } from './unsettled.ts';

declare const SLUICE_VERSION: string;

export interface RunRequest {
  readonly loaded: LoadedWorkflow;
  readonly project: string;
  readonly set: Readonly<Record<string, Json>>;
  readonly stage: string | undefined;
  readonly force: boolean;
  readonly all: boolean;
  readonly capacity: Capacity;
  readonly io: Io;
  readonly report: (result: StateResult) => void;
  readonly warn: (warning: string) => void;
  /** Null where nobody looks. */
  readonly progress: Pick<LiveProgress, 'begun' | 'started' | 'ended'> | null;
}

export interface RunOutcome {
  readonly id: string;
  readonly results: readonly StateResult[];
  readonly cached: number;
  readonly seconds: number;
}

/** Longer back-offs are not waited for (SEMANTICS 18). */
const LONGEST_WAIT_MS = 60_000;

export async function runHere(request: RunRequest): Promise<RunOutcome> {
  const { loaded, project, io } = request;
  const own = join(project, '.sluice');
  mkdirSync(own, { recursive: true });
  const root = dirname(loaded.path);
  const lookedAtMs = Date.now();
  const machine = await openMachine({ workflow: loaded.workflow, path: loaded.path, root, own });
  try {
    const lock = new LockRecords(
      join(root, `${stemOf(loaded.path)}.lock.yaml`),
      loaded.workflow,
      machine.hash,
    );
    const reached = inProcess(await openState(own, io, request.warn), io);
    let outcome: RunOutcome;
    try {
      outcome = await new Run(request, { client: reached.client, machine, lock, own, root }).toTheEnd();
    } catch (error) {
      throw explained(error);
    } finally {
      await reached.close();
    }
    if (outcome.results.length === 0) keepClean(request, outcome.cached, { machine, lock, own, lookedAtMs });
    return outcome;
  } finally {
    await machine.close();
  }
}

interface Tools {
  readonly client: Client;
  readonly machine: Machine;
  readonly lock: LockRecords;
  readonly own: string;
  readonly root: string;
}

class Run {
  readonly #request: RunRequest;
  readonly #tools: Tools;
  readonly #ask: Ask;
  readonly #log: EventLog;
  readonly #saving: Saving;
  readonly #stages: ReadonlyMap<string, Stage>;
  readonly #results = new Map<string, StateResult>();
  readonly #recipes = new Map<string, RecordedRecipe | null>();
  readonly #remade = new Map<string, StageId>();
  readonly #retries = new Map<string, number>();
  readonly #interrupt = new AbortController();
  #stopped = false;
  #looksAgain = false;

  constructor(request: RunRequest, tools: Tools) {
    this.#request = request;
    this.#tools = tools;
    const { workflow, path } = request.loaded;
    this.#ask = new Ask(tools.client, workflow.name);
    this.#log = new EventLog(join(tools.root, `${stemOf(path)}.events.jsonl`));
    this.#saving = new Saving(() => tools.lock.save(Date.now()));
    this.#stages = new Map(workflow.stages.map((stage) => [stage.id, stage]));
  }

  async toTheEnd(): Promise<RunOutcome> {
    const begun = performance.now();
    const { client } = this.#tools;
    await answerOf(client.api.work.restart.$post({ json: { runner: RUNNER } }));
    const place = { ...this.#tools, ...this.#request };
    await register(place);
    const watching = await watchingOf(place);
    if ((await look(watching)) > 0) this.#tools.machine.looks.stop();
    await importLock(place);
    const { id, stages } = await this.#begin();
    const onSignal = () => {
      this.#stopped = true;
      this.#interrupt.abort();
      // A second one ends this process at once; the watchdog ends the commands.
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    try {
      await this.#work({ id, stages, watching });
      return await this.#finish(id, stages, begun);
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      watching.reported.save();
      this.#saving.now();
      rememberLock(place);
    }
  }

  async #begin(): Promise<{ id: string; stages: readonly string[] }> {
    const { force, stage, loaded, capacity } = this.#request;
    const { name } = loaded.workflow;
    const runs = this.#tools.client.api.workflows[':name{[^]+}'].runs;
    const json = { force, cause: 'sluice run', ...(stage === undefined ? {} : { stage }) };
    const run = await answerOf(runs.$post({ param: { name: encodeURIComponent(name) }, json }));
    for (const id of run.stages) {
      const problem = neverFits(this.#stages.get(id)!, capacity);
      if (problem !== null) throw tooSmall(problem);
    }
    this.#log.append({
      ts: now(),
      event: 'run_started',
      playbook: name,
      run_id: run.id,
      sluice_version: SLUICE_VERSION,
    });
    return run;
  }

  async #work({ id, stages, watching }: Work): Promise<void> {
    const { client, machine, own, root, lock } = this.#tools;
    const { loaded, project, capacity, io } = this.#request;
    const { workflow } = loaded;
    const context = {
      ...{ workflow, root, hash: machine.hash, hasher: machine.hasher, list: machine.list },
      ...{ supervisor: machine.supervisor, env: io.env, signal: this.#interrupt.signal },
      http: { resolve: resolveHost, refuse: null },
      workBase: workBase({ root: project, workflowDir: root, policyWorkDir: workflow.policy.workDir }),
      hasLockFile: lock.existed,
      manifests: new Manifests(),
      recipe: (hash: string) => this.#recipe(hash),
      remadeBy: (path: string) => this.#remade.get(path),
      starting: (item: { stage: string; entity: string }, reasons: readonly string[]) => {
        this.#request.progress?.started(item.stage, item.entity);
        this.#log.append({
          ...{ ts: now(), event: 'stage_started' as const, ...stateOf(item), target: TARGET },
          ...{ cache_miss_reason: reasons.join('; '), purified: false },
        });
      },
      isMine: (tokens: readonly number[]) => pool.isMine(tokens),
    };
    mkdirSync(own, { recursive: true });
    await this.#showProgress(stages);
    const pool: WorkPool = new WorkPool({
      ...{ client, runner: RUNNER, targets: [TARGET], capacity, workflow: workflow.name, stages, run: id },
      stageOf: ({ stage }) => this.#stages.get(stage)!,
      perform: async (items) => this.#withRecipes(await performWork(items, context)),
      observe: (observations) => send(observations, watching),
      posted: (performed, answer) => {
        // Told with the result, so the next look need not tell it again.
        for (const { path, hash, size } of performed.outs) watching.reported.took({ path, hash, size });
        this.#posted(performed, answer);
      },
      isStopping: () => this.#stopped,
    });
    try {
      for (;;) {
        await pool.drain();
        if (this.#stopped) return;
        if (this.#looksAgain) {
          this.#looksAgain = false;
          if ((await look(watching)) > 0) continue;
        }
        const waitMs = await this.#retryWait(stages);
        if (waitMs === null) return;
        await pause(waitMs, undefined, { signal: this.#interrupt.signal }).catch(() => {});
      }
    } finally {
      pool.close();
    }
  }

  async #showProgress(stages: readonly string[]): Promise<void> {
    const { progress } = this.#request;
    if (progress === null) return;
    const { stages: counts } = await this.#ask.status();
    progress.begun(
      stages.flatMap((stage) => {
        const count = counts[stage];
        if (count === undefined || this.#stages.get(stage)?.kind === 'source') return [];
        const due = count.stale + count.failed + count.processing;
        return [{ stage, total: due + count.fresh + count.edited + count.skipped, due }];
      }),
    );
  }

  /** A recipe goes along once, then by its hash. */
  #withRecipes(performed: readonly Performed[]): readonly Performed[] {
    return performed.map((each) => {
      if (each.post.kind !== 'complete' || each.key === null) return each;
      const { hash, body } = recipeOf(this.#tools.machine.hash, each.key.key, each.key.preimage);
      const isKnown = this.#recipes.has(hash);
      this.#recipes.set(hash, body);
      const item = { ...each.post.item, recipe: hash, ...(isKnown ? {} : { recipe_body: body as never }) };
      return { ...each, post: { kind: 'complete', item } };
    });
  }

  async #recipe(hash: string): Promise<RecordedRecipe | null> {
    const known = this.#recipes.get(hash);
    if (known !== undefined) return known;
    const response = await this.#tools.client.api.recipes[':hash'].$get({ param: { hash } });
    const body = response.ok ? ((await response.json()).body as unknown as RecordedRecipe) : null;
    this.#recipes.set(hash, body);
    return body;
  }

  #posted(performed: Performed, { result, retryAt }: Answer): void {
    const { item, post, seconds, reasons, warnings } = performed;
    this.#request.progress?.ended(item.stage, item.entity, howEnded(post.kind, result));
    const stage = this.#stages.get(item.stage)!;
    for (const warning of warnings) this.#request.warn(warning);
    if (post.kind === 'release') return;
    if (post.kind === 'fail') {
      this.#failed(performed, result, retryAt);
      return;
    }
    if (result === 'lost') return;
    this.#lockIn(performed, stage);
    if (post.item.outcome === 'verified') return;
    for (const { path } of performed.outs) this.#remade.set(path, stage.id);
    if (stage.outs.some(({ path }) => path.endsWith('/'))) this.#looksAgain = true;
    const outs_hash = performed.outs[0]?.hash ?? 'none';
    this.#log.append({
      ts: now(),
      event: 'stage_completed',
      ...stateOf(item),
      duration_seconds: seconds,
      outs_hash,
    });
    this.#report(stage, item.entity, { status: 'completed', reasons, error: null, seconds });
  }

  #failed({ item, post, seconds, reasons }: Performed, result: string, retryAt: number | null): void {
    if (post.kind !== 'fail') return;
    const stage = this.#stages.get(item.stage)!;
    const attempt = (this.#retries.get(keyOf(item)) ?? 0) + 1;
    this.#retries.set(keyOf(item), attempt);
    const { error, log_tail, outcome } = post.item;
    const exit_code = outcome.kind === 'exit' ? outcome.code : null;
    this.#log.append({
      ts: now(),
      event: 'stage_failed',
      ...stateOf(item),
      exit_code,
      retry_attempt: attempt - 1,
      error,
    });
    if (result === 'retry' && retryAt !== null) {
      const backoff_seconds = Math.max(0, Math.round((retryAt - Date.now()) / 100) / 10);
      this.#log.append({
        ts: now(),
        event: 'stage_retry',
        ...stateOf(item),
        attempt: attempt + 1,
        backoff_seconds,
      });
      return;
    }
    const said = log_tail === undefined || log_tail === '' ? error : `${error}\n${log_tail}`;
    this.#report(stage, item.entity, { status: 'failed', reasons, error: said, seconds });
    if (this.#request.loaded.workflow.policy.failure === 'stop_on_first') this.#stopped = true;
  }

  #lockIn(performed: Performed, stage: Stage): void {
    const { item, key, outs, post, seconds } = performed;
    if (key === null || post.kind !== 'complete') return;
    if (
      post.item.outcome === 'verified' &&
      this.#tools.lock.cacheKeyOf(item.stage, item.entity) === key.key.cacheKey
    )
      return;
    const retries = this.#retries.get(keyOf(item)) ?? 0;
    const skipped = post.item.outcome === 'skipped';
    this.#tools.lock.set(
      stage,
      item.entity,
      entryOf({ stage, ...key, outs, skipped, retries, endedMs: Date.now(), seconds }),
    );
    this.#saving.soon();
  }

  #report(
    stage: Stage,
    entity: string,
    how: Pick<StateResult, 'status' | 'reasons' | 'error' | 'seconds'>,
  ): void {
    const result = {
      name: nameOf(stage, entity as EntityId),
      stage: stage.id,
      entity: entity as EntityId,
      ...how,
    };
    this.#results.set(keyOf({ stage: stage.id, entity }), result);
    this.#request.report(result);
  }

  /** How long until the next retry; null if there is none, or it is too far away to be waited for. */
  async #retryWait(stages: readonly string[]): Promise<number | null> {
    const failed = (await this.#ask.states({ status: 'failed' })).filter(({ stage }) =>
      stages.includes(stage),
    );
    const times = failed.flatMap(({ next_retry_at }) =>
      next_retry_at === null ? [] : [Date.parse(next_retry_at)],
    );
    if (times.length === 0) return null;
    const waitMs = Math.min(...times) - Date.now();
    return waitMs > LONGEST_WAIT_MS ? null : Math.max(0, waitMs);
  }

  async #finish(id: string, stages: readonly string[], begun: number): Promise<RunOutcome> {
    const { loaded, all } = this.#request;
    const { workflow } = loaded;
    await this.#completeLock();
    const inScope = new Set(stages);
    const unsettled = (
      await Promise.all(
        (['stale', 'waiting', 'failed', 'exhausted'] as const).map((status) => this.#ask.states({ status })),
      )
    )
      .flat()
      .filter(({ stage, entity }) => inScope.has(stage) && !this.#results.has(keyOf({ stage, entity })));
    for (const result of unsettledResults(unsettled, {
      ...{ workflow, root: this.#tools.root, list: this.#tools.machine.list, dag: loaded.dag },
      ...{ results: [...this.#results.values()], isStopped: this.#stopped },
    }))
      this.#report(this.#stages.get(result.stage)!, result.entity, result);
    await this.#tellEdited(inScope);
    await this.#tellFrozen(inScope);
    const status = await this.#ask.status();
    const settled = Object.entries(status.stages)
      .filter(([stage]) => inScope.has(stage))
      .reduce((sum, [, counts]) => sum + counts.fresh + counts.edited + counts.skipped + counts.orphan, 0);
    const ran = [...this.#results.values()].filter((each) => each.status === 'completed').length;
    const cached = Math.max(0, settled - ran);
    if (all) await this.#addCached(inScope);
    const seconds = (performance.now() - begun) / 1_000;
    const results = inOrder(this.#results.values(), workflow);
    const failed = results.filter((each) => each.status === 'failed').length;
    const isGood = results.every((each) => each.status === 'completed' || each.status === 'cached');
    const counts = {
      ...{ stages_run: ran + failed, stages_cached: cached, stages_failed: failed },
      total_seconds: Math.round(seconds * 1_000) / 1_000,
    };
    await answerOf(
      this.#tools.client.api.runs[':id'].end.$post({
        param: { id },
        json: { status: isGood ? 'completed' : 'failed', counts },
      }),
    );
    this.#log.append({ ts: now(), event: 'run_completed', run_id: id, ...counts });
    return { id, results, cached, seconds };
  }

  /** What was settled before this run and is not in the lock file, as when somebody has removed it. */
  async #completeLock(): Promise<void> {
    const { lock, machine, root } = this.#tools;
    if (!this.#request.loaded.workflow.policy.lockFile) return;
    for (const record of await this.#ask.records()) {
      const stage = this.#stages.get(record.stage);
      if (stage === undefined || record.recipe === null) continue;
      if (lock.cacheKeyOf(record.stage, record.entity) !== undefined) continue;
      const recipe = await this.#recipe(record.recipe);
      if (recipe === null) continue;
      const prefix = root.endsWith('/') ? root : `${root}/`;
      const outs = record.outs.map(({ path, hash, size }) => ({
        ...{ path, hash, size: size ?? 0 },
        name: path.startsWith(prefix) ? path.slice(prefix.length) : path,
      }));
      const producedMs = record.produced_at === null ? Date.now() : Date.parse(record.produced_at);
      const parts = {
        stage,
        recipe,
        deps: record.deps,
        outs,
        cacheKey: record.cache_key,
        skipped: record.skipped,
        producedMs,
      };
      lock.set(stage, record.entity, entryFromRecord(machine.hash, parts));
      this.#saving.soon();
    }
  }

  async #tellEdited(inScope: ReadonlySet<string>): Promise<void> {
    for (const { stage: id, entity } of await this.#ask.states({ status: 'edited' })) {
      const stage = this.#stages.get(id);
      if (stage === undefined || !inScope.has(id) || this.#results.has(keyOf({ stage: id, entity })))
        continue;
      const reasons = [`edited by hand: ${editedNames(stage, entity)}; --force makes it again`];
      this.#report(stage, entity, { status: 'cached', reasons, error: null, seconds: 0 });
    }
  }

  /** A frozen stage follows none of its inputs; that it is behind them is told all the same. */
  async #tellFrozen(inScope: ReadonlySet<string>): Promise<void> {
    const { workflow } = this.#request.loaded;
    const { root, machine } = this.#tools;
    if (!workflow.stages.some(({ id, frozen }) => frozen && inScope.has(id))) return;
    for (const record of await this.#ask.records()) {
      const stage = this.#stages.get(record.stage);
      if (stage === undefined || !stage.frozen || this.#results.has(keyOf(record)) || record.recipe === null)
        continue;
      const files = stateFiles(stage, record.entity as EntityId, { workflow, root, list: machine.list });
      const look = await lookAtState(files, { workflow, root, hash: machine.hash, hasher: machine.hasher });
      const recipe = await this.#recipe(record.recipe);
      if (look.kind !== 'seen' || recipe === null || look.key.cacheKey === record.cache_key) continue;
      const before = preimageOf(recipe, record.deps as Preimage['deps'], look);
      const despite = comparePreimages(before, look.preimage).map((change) =>
        explain(reasonFor(change, new Map())),
      );
      const reasons = [despite.length === 0 ? 'frozen' : `frozen, kept despite: ${despite.join('; ')}`];
      this.#report(stage, record.entity, { status: 'cached', reasons, error: null, seconds: 0 });
    }
  }

  async #addCached(inScope: ReadonlySet<string>): Promise<void> {
    for (const { stage: id, entity } of await this.#ask.states({})) {
      const stage = this.#stages.get(id);
      if (stage === undefined || !inScope.has(id) || this.#results.has(keyOf({ stage: id, entity })))
        continue;
      const name = nameOf(stage, entity as EntityId);
      const cached = { name, stage: stage.id, entity: entity as EntityId, status: 'cached' as const };
      this.#results.set(keyOf({ stage: id, entity }), { ...cached, reasons: [], error: null, seconds: 0 });
    }
  }
}

interface Work {
  readonly id: string;
  readonly stages: readonly string[];
  readonly watching: Watching;
}

function editedNames(stage: Stage, entity: string): string {
  const context = { workflow: { targets: {} } as never, root: '/', list: () => [] };
  return stateFiles(stage, entity as EntityId, context)
    .outs.map(({ name }) => name)
    .join(', ');
}

function stateOf({ stage, entity }: { readonly stage: string; readonly entity: string }) {
  return entity === '' ? { stage } : { stage, entity };
}

function howEnded(kind: Performed['post']['kind'], result: string): Ended {
  if (kind === 'release' || result === 'lost') return 'released';
  if (kind === 'complete') return 'settled';
  return result === 'retry' ? 'again' : 'failed';
}

function keyOf({ stage, entity }: { readonly stage: string; readonly entity: string }): string {
  return `${stage}\0${entity}`;
}

function now(): string {
  return new Date().toISOString();
}

function tooSmall(problem: string): CliError {
  return new CliError({
    code: 'too-small',
    message: problem,
    hint: 'give more with --jobs, say what the machine has under targets, or ask for less',
    exitCode: EXIT.failed,
  });
}
