// One workflow that `up` keeps fresh: what it looks at, how its states are made, and what becomes of the results.

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '../../host/client.ts';
import { Manifests } from '../../runner/manifest.ts';
import { resolveHost } from '../../runner/nodes/send-http.ts';
import { performWork } from '../../runner/perform-work.ts';
import type { Performed } from '../../runner/performed.ts';
import { workBase } from '../../runner/work-dir.ts';
import type { Answer } from '../../runner/work-pool.ts';
import type { Claimed, Observation } from '../../schema/wire.ts';
import type { Stage } from '../../schema/workflow.ts';
import { DirectoryWatches } from '../../watcher/directory-watches.ts';
import { reportAll, send } from '../../watcher/report.ts';
import { Settling } from '../../watcher/settling.ts';
import type { Io } from '../command.ts';
import { type LoadedWorkflow, stemOf } from '../load-file.ts';
import { EventLog } from '../run/event-log.ts';
import { KeepResults } from '../run/keep-results.ts';
import { importLock, lockOf, type Place, register, type Watching, watchingOf } from '../run/look.ts';
import { type MachineBase, machineFor } from '../run/machine.ts';
import { Recipes } from '../run/recipes.ts';
import type { StateResult } from '../run/results.ts';
import { Saving } from '../run/saving.ts';

export interface KeptContext {
  readonly client: Client;
  readonly base: MachineBase;
  readonly project: string;
  readonly own: string;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly isMine: (tokens: readonly number[]) => Promise<boolean>;
  /** Something happened where it looks. */
  readonly changed: () => void;
  readonly report: (result: StateResult) => void;
  readonly warn: (warning: string) => void;
}

export class KeptWorkflow {
  readonly name: string;
  readonly watches: DirectoryWatches;
  readonly settling: Settling;
  readonly #polls: boolean;
  readonly #place: Place;
  readonly #context: KeptContext;
  readonly #watching: Watching;
  readonly #kept: KeepResults;
  readonly #saving: Saving;
  readonly #recipes: Recipes;
  readonly #perform: (items: readonly Claimed[]) => Promise<readonly Performed[]>;
  #told = new Set<string>();

  /** Registers it, and believes its lock file; looks at nothing yet. */
  static async open(loaded: LoadedWorkflow, context: KeptContext): Promise<KeptWorkflow> {
    const { workflow, path } = loaded;
    const root = dirname(path);
    const settling = new Settling(workflow.watch.settleMs, Date.now);
    const watches = new DirectoryWatches({
      warn: context.warn,
      changed: (where) => {
        if (machine.ignore.ignores(where.slice(where.lastIndexOf('/') + 1))) return;
        settling.touched(where);
        context.changed();
      },
    });
    const machine = machineFor(context.base, { workflow, path, root, disk: watches.disk });
    machine.looks.stop();
    const lock = lockOf(loaded, { ...context, blake3: machine.blake3 });
    const place: Place = {
      ...{ loaded, project: context.project, own: context.own, root, set: {}, client: context.client, lock },
      machine: { ...machine, close: async () => {} },
    };
    await register(place);
    const watching = await watchingOf(place);
    await importLock(place);
    return new KeptWorkflow(context, place, { watching, watches, settling });
  }

  private constructor(context: KeptContext, place: Place, look: Looking) {
    const { loaded, machine, root, lock, project } = place;
    const { workflow, path } = loaded;
    this.name = workflow.name;
    this.watches = look.watches;
    this.settling = look.settling;
    this.#polls = workflow.watch.poll === true;
    this.#context = context;
    this.#place = place;
    this.#watching = { ...look.watching, isSettled: (at, stamp) => look.settling.isSettled(at, stamp) };
    this.#saving = new Saving(() => lock.save(Date.now()));
    this.#recipes = new Recipes(context.client, machine.hash);
    this.#kept = new KeepResults({
      ...{ workflow, lock, saving: this.#saving, report: context.report, warn: context.warn },
      ...{ log: new EventLog(join(root, `${stemOf(path)}.events.jsonl`)), progress: null, failed: () => {} },
    });
    const perform = {
      ...{ workflow, root, hash: machine.hash, hasher: machine.hasher, list: machine.list },
      ...{ supervisor: machine.supervisor, env: context.io.env, signal: context.signal },
      http: { resolve: resolveHost, refuse: null },
      workBase: workBase({ root: project, workflowDir: root, policyWorkDir: workflow.policy.workDir }),
      get hasLockFile() {
        return lock.exists;
      },
      manifests: new Manifests(),
      recipe: (hash: string) => this.#recipes.find(hash),
      remadeBy: (at: string) => this.#kept.remadeBy(at),
      starting: (item: Claimed, reasons: readonly string[]) => this.#kept.starting(item, reasons),
      isMine: context.isMine,
    };
    this.#perform = async (items) => this.#recipes.attach(await performWork(items, perform));
  }

  /** Whether nothing tells when something happens, or the workflow does not want to rely on it. */
  get polls(): boolean {
    return this.#polls || this.watches.isExhausted;
  }

  stageOf(stage: string): Stage {
    return this.#kept.stages.get(stage)!;
  }

  /** Tells the control plane what is new on disk; how many observations that were. */
  async look(): Promise<number> {
    const begunMs = Date.now();
    const { sent, problems } = await reportAll(this.#watching.patterns, this.#watching);
    this.settling.looked(begunMs);
    for (const { path, reason } of problems)
      this.#once(`${path}: ${reason}; it is left out until it can be read`);
    if (sent > 0) this.#watching.reported.save();
    return sent;
  }

  perform(items: readonly Claimed[]): Promise<readonly Performed[]> {
    return this.#perform(items);
  }

  observe(observations: readonly Observation[]): Promise<void> {
    return send(observations, this.#watching);
  }

  posted(performed: Performed, answer: Answer): void {
    // Told with the result, so the next look need not tell it again.
    for (const { path, hash, size } of performed.outs) this.#watching.reported.took({ path, hash, size });
    this.#kept.posted(performed, answer);
    if (this.#kept.takeMadeDirectory()) this.#context.changed();
  }

  /** Called when nothing is left to do. */
  rest(): void {
    this.#kept.forget();
  }

  close(): void {
    this.watches.close();
    this.#watching.reported.save();
    this.#saving.now();
    this.#place.lock.remember();
    // What `run` may believe without looking was written before this process changed things.
    rmSync(join(this.#context.own, 'clean'), { recursive: true, force: true });
  }

  #once(warning: string): void {
    if (this.#told.has(warning)) return;
    this.#told.add(warning);
    this.#context.warn(warning);
  }
}

interface Looking {
  readonly watching: Watching;
  readonly watches: DirectoryWatches;
  readonly settling: Settling;
}
