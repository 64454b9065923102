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
import { importEntries, recordOf } from '../run/lock-entries.ts';
import type { LockEntry } from '../run/lock-records.ts';
import { lockOf, lockPathOf, type Place, register, watchingOf } from '../run/look.ts';
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

const LOCK_SETTLE_MS = 200;
const LOCK_PATIENCE_MS = 10_000;

export class KeptWorkflow {
  readonly name: string;
  readonly lookout: Lookout;
  readonly #place: Place;
  readonly #context: KeptContext;
  readonly #kept: KeepResults;
  readonly #saving: Saving;
  readonly #perform: Perform;
  #lockTimer: NodeJS.Timeout | null = null;
  /** What was last told about it. */
  #lockTrouble = '';
  /** Entries that others made and that the control plane may not have taken yet. */
  #foreign: { readonly entries: readonly LockEntry[]; readonly untilMs: number } | null = null;

  /** Registers it, and believes its lock file; looks at nothing yet. */
  static async open(loaded: LoadedWorkflow, context: KeptContext): Promise<KeptWorkflow> {
    const { workflow, path } = loaded;
    const root = dirname(path);
    const lockPath = lockPathOf(path);
    let lookout: Lookout | null = null;
    let kept: KeptWorkflow | null = null;
    const watches = new DirectoryWatches({
      ...{ warn: context.warn, root },
      changed: (where, how) => {
        lookout?.hinted(where, how);
        if (where === lockPath) kept?.lockTouched();
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
    lookout = new Lookout({
      ...{ workflow: workflow.name, patterns: watching.patterns, context: watching, watches },
      ...{ ...workflow.watch, warn: context.warn },
      looked: () => kept!.importLock(),
    });
    kept = new KeptWorkflow(context, place, lookout);
    return kept;
  }

  private constructor(context: KeptContext, place: Place, lookout: Lookout) {
    const { loaded, machine, root, lock } = place;
    const { workflow, path } = loaded;
    this.name = workflow.name;
    this.lookout = lookout;
    this.#context = context;
    this.#place = place;
    if (lock.exists && !lock.isOurs()) this.#believe();
    this.#saving = new Saving(() => {
      // What somebody else has written is not written over, least of all what is in the middle of a merge.
      if (this.#takeLock()) lock.save(Date.now());
    });
    this.#kept = new KeepResults({
      ...{ workflow, lock, saving: this.#saving, report: context.report, warn: context.warn },
      ...{ log: new EventLog(join(root, `${stemOf(path)}.events.jsonl`)), progress: null, failed: () => {} },
    });
    this.#perform = performingOf({
      ...{ workflow, root, own: context.own, machine, recipes: new Recipes(context.client, machine.hash) },
      ...{ env: context.io.env, isMine: context.isMine },
      get hasLockFile() {
        return lock.exists;
      },
      remadeBy: (at) => this.#kept.remadeBy(at),
      starting: (item, reasons) => this.#kept.starting(item, reasons),
    });
  }

  stageOf(stage: string): Stage {
    return this.#kept.stages.get(stage)!;
  }

  perform(items: readonly Claimed[], signal: AbortSignal): Promise<readonly Performed[]> {
    return this.#perform(
      items.map((item) => this.#withForeign(item)),
      signal,
    );
  }

  /** A claim may come between the look that made a state known and the import of its record. */
  #withForeign(item: Claimed): Claimed {
    const { stage, entity } = item;
    const entry = this.#foreign?.entries.find((each) => each.stage === stage && each.entity === entity);
    if (entry === undefined) return item;
    const { root, machine } = this.#place;
    return { ...item, records: [recordOf(entry, { root, hash: machine.hash }), ...item.records] };
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

  /** Somebody may have written the lock file, and may not be done: it is read when that has been quiet for a moment. */
  lockTouched(): void {
    if (this.#lockTimer !== null) clearTimeout(this.#lockTimer);
    this.#lockTimer = setTimeout(() => this.#takeLock(), LOCK_SETTLE_MS).unref();
  }

  /**
   * Called after a look, for a record is only taken for a state that is known. What a `git pull` brings comes in any
   * order, so for a while each look may be the one that makes the rest known.
   */
  async importLock(): Promise<void> {
    if (this.#foreign === null) return;
    const { client, root, machine } = this.#place;
    await importEntries(this.#foreign.entries, { client, workflow: this.name, root, hash: machine.hash });
    if (performance.now() > this.#foreign.untilMs) this.#foreign = null;
  }

  /** False if it cannot be read, as in the middle of a merge: then it stays as it is until somebody mends it. */
  #takeLock(): boolean {
    try {
      const isNew = this.#place.lock.takeIn();
      this.#lockTrouble = '';
      if (!isNew) return true;
      this.#believe();
      this.lookout.distrust();
      this.#context.changed();
      return true;
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#lockTrouble)
        this.#context.warn(`${message}; it is not written until that is mended`);
      this.#lockTrouble = message;
      return false;
    }
  }

  /** What the lock file says that others have made. */
  #believe(): void {
    this.#foreign = { entries: this.#place.lock.entries(), untilMs: performance.now() + LOCK_PATIENCE_MS };
  }

  close(): void {
    if (this.#lockTimer !== null) clearTimeout(this.#lockTimer);
    this.lookout.close();
    this.#saving.now();
    // What was not in it when this began may still not be; a run that looks puts it there.
    this.#place.lock.remember({ isComplete: this.#place.lock.wasComplete });
    // What `run` may believe without looking was written before this process changed things.
    rmSync(join(this.#context.own, 'clean'), { recursive: true, force: true });
  }
}
