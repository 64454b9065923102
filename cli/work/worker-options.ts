// What a runner is started with.

import type { Client } from '../../host/client.ts';
import type { RootOption } from '../../host/roots.ts';
import type { Capacity } from '../../runner/capacity.ts';
import type { LogBook } from '../../runner/log-book.ts';
import type { Performed } from '../../runner/performed.ts';
import type { Answer } from '../../runner/post-results.ts';
import type { ResultJournal } from '../../runner/result-journal.ts';
import type { MachineBase } from '../run/machine.ts';

export interface WorkerOptions {
  readonly client: Client;
  readonly base: MachineBase;
  /** The runner's own directory. */
  readonly own: string;
  readonly runner: string;
  readonly target: string;
  readonly capacity: Capacity;
  readonly labels: Readonly<Record<string, string>>;
  readonly roots: readonly RootOption[];
  /** Definitions by their workflow's name; null is whatever this control plane hands out. */
  readonly allowed: ReadonlyMap<string, string> | null;
  readonly leaseSeconds: number;
  readonly denyPrivate: boolean;
  readonly results: ResultJournal;
  readonly logs: LogBook;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly posted: (performed: Performed, answer: Answer) => void;
  readonly warn: (warning: string) => void;
  readonly say: (line: string) => void;
  /** From now on nobody waits for a control plane that is away. */
  readonly hurry: () => void;
}
