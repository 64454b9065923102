// What the parts of one run share: what was asked for, what it is done with, and what came of it so far.

import type { Client } from '../../host/client.ts';
import type { Capacity } from '../../runner/capacity.ts';
import type { Json } from '../../schema/words.ts';
import type { Io } from '../command.ts';
import type { LoadedWorkflow } from '../load-file.ts';
import type { LiveProgress } from '../render/live-progress.ts';
import type { SecretOf } from '../secrets.ts';
import type { Ask } from './ask.ts';
import type { Changed } from './clean-place.ts';
import type { EventLog } from './event-log.ts';
import type { KeepResults } from './keep-results.ts';
import type { LockRecords } from './lock-records.ts';
import type { Machine } from './machine.ts';
import type { Recipes } from './recipes.ts';
import type { StateResult } from './results.ts';
import type { Saving } from './saving.ts';

export interface RunRequest {
  readonly loaded: LoadedWorkflow;
  readonly project: string;
  readonly set: Readonly<Record<string, Json>>;
  readonly stage: string | undefined;
  readonly entity: string | undefined;
  /** `--stage` as it was written. */
  readonly asked: string | undefined;
  readonly force: boolean;
  /** Null unless nothing but the content of some files is other than when there was nothing to do. */
  readonly changed: Changed | null;
  readonly all: boolean;
  readonly capacity: Capacity;
  readonly io: Io;
  readonly secretOf: SecretOf;
  readonly report: (result: StateResult) => void;
  readonly warn: (warning: string) => void;
  /** Null where nobody looks. */
  readonly progress: Pick<LiveProgress, 'begun' | 'started' | 'ended'> | null;
}

/** For a project that another process keeps. */
export interface OwnedRequest extends RunRequest {
  /** Of that process. */
  readonly url: string;
  /** `.sluice/` of the project. */
  readonly own: string;
}

export interface RunOutcome {
  readonly id: string;
  readonly results: readonly StateResult[];
  readonly cached: number;
  readonly seconds: number;
}

export interface Tools {
  readonly client: Client;
  readonly machine: Machine;
  readonly lock: LockRecords;
  /** `.sluice/` of the project. */
  readonly own: string;
  /** The workflow's directory. */
  readonly root: string;
}

export interface RunParts {
  readonly request: RunRequest;
  readonly tools: Tools;
  readonly ask: Ask;
  readonly log: EventLog;
  readonly saving: Saving;
  readonly kept: KeepResults;
  readonly recipes: Recipes;
  readonly stop: Stop;
}

/** Nothing new is started once a run is stopped; a signal also cuts short what is waited for. */
export class Stop {
  readonly #interrupt = new AbortController();
  #isStopped = false;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get signal(): AbortSignal {
    return this.#interrupt.signal;
  }

  afterWhatRuns(): void {
    this.#isStopped = true;
  }

  atOnce(): void {
    this.#isStopped = true;
    this.#interrupt.abort();
  }
}
