// One workflow that `up` keeps fresh: what it looks at, how its states are made, and what becomes of the results.

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '../../host/client.ts';
import type { Performed } from '../../runner/performed.ts';
import type { Answer } from '../../runner/work-pool.ts';
import type { Claimed, Observation } from '../../schema/wire.ts';
import type { Stage } from '../../schema/workflow.ts';
import { DirectoryWatches } from '../../watcher/directory-watches.ts';
import { Lookout } from '../../watcher/lookout.ts';
import type { Io } from '../command.ts';
import { type LoadedWorkflow, stemOf } from '../load-file.ts';
import { type Perform, performingOf } from '../perform.ts';
import { EventLog } from '../run/event-log.ts';
import { KeepResults } from '../run/keep-results.ts';
import { LockRecords } from '../run/lock-records.ts';
import { importLock, type Place, register, rememberLock, watchingOf } from '../run/look.ts';
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
  readonly isMine: (tokens: readonly number[]) => Promise<boolean>;
  /** Something happened where it looks. */
  readonly changed: () => void;
  readonly report: (result: StateResult) => void;
  readonly warn: (warning: string) => void;
}

export class KeptWorkflow {
  readonly name: string;
  readonly lookout: Lookout;
  readonly #place: Place;
  readonly #context: KeptContext;
  readonly #kept: KeepResults;
  readonly #saving: Saving;
  readonly #perform: Perform;

  /** Registers it, and believes its lock file; looks at nothing yet. */
  static async open(loaded: LoadedWorkflow, context: KeptContext): Promise<KeptWorkflow> {
    const { workflow, path } = loaded;
    const root = dirname(path);
    let lookout: Lookout | null = null;
    const watches = new DirectoryWatches({
      ...{ warn: context.warn, root },
      changed: (where, how) => {
        lookout?.hinted(where, how);
        context.changed();
      },
    });
    const machine = machineFor(context.base, { workflow, path, root, disk: watches.disk });
    machine.looks.stop();
    const lock = new LockRecords(join(root, `${stemOf(path)}.lock.yaml`), workflow, machine.hash);
    const place: Place = {
      ...{ loaded, project: context.project, own: context.own, root, set: {}, client: context.client, lock },
      machine: { ...machine, close: async () => {} },
    };
    await register(place);
    const watching = await watchingOf(place);
    await importLock(place);
    lookout = new Lookout({
      ...{ workflow: workflow.name, patterns: watching.patterns, context: watching, watches },
      ...{ ...workflow.watch, warn: context.warn },
    });
    return new KeptWorkflow(context, place, lookout);
  }

  private constructor(context: KeptContext, place: Place, lookout: Lookout) {
    const { loaded, machine, root, lock } = place;
    const { workflow, path } = loaded;
    this.name = workflow.name;
    this.lookout = lookout;
    this.#context = context;
    this.#place = place;
    this.#saving = new Saving(() => lock.save(Date.now()));
    this.#kept = new KeepResults({
      ...{ workflow, lock, saving: this.#saving, report: context.report, warn: context.warn },
      ...{ log: new EventLog(join(root, `${stemOf(path)}.events.jsonl`)), progress: null, failed: () => {} },
    });
    this.#perform = performingOf({
      ...{ workflow, root, own: context.own, machine, recipes: new Recipes(context.client, machine.hash) },
      ...{ env: context.io.env, isMine: context.isMine },
      get hasLockFile() {
        return lock.text !== null;
      },
      remadeBy: (at) => this.#kept.remadeBy(at),
      starting: (item, reasons) => this.#kept.starting(item, reasons),
    });
  }

  stageOf(stage: string): Stage {
    return this.#kept.stages.get(stage)!;
  }

  perform(items: readonly Claimed[], signal: AbortSignal): Promise<readonly Performed[]> {
    return this.#perform(items, signal);
  }

  observe(observations: readonly Observation[]): Promise<void> {
    return this.lookout.observe(observations);
  }

  posted(performed: Performed, answer: Answer): void {
    // Told with the result, so the next look need not tell it again.
    this.lookout.took(performed.outs.map(({ path, hash, size }) => ({ path, hash, size })));
    this.#kept.posted(performed, answer);
    if (!this.#kept.takeMadeDirectory()) return;
    for (const { path } of performed.outs) this.lookout.hinted(path);
    this.#context.changed();
  }

  /** Called when nothing is left to do. */
  rest(): void {
    this.#kept.forget();
  }

  close(): void {
    this.lookout.close();
    this.#saving.now();
    rememberLock(this.#place);
    // What `run` may believe without looking was written before this process changed things.
    rmSync(join(this.#context.own, 'clean'), { recursive: true, force: true });
  }
}
