// Goes on from the last verdict of nothing to do, where only the content of some files has changed since: these are
// told, and nothing else is looked at, registered or read again.
//
// All that the long way would find out stands in the snapshot: the definition is registered, the lock file is ours and
// complete, every other path is as it was told. The verdict itself is the control plane's, as ever.

import { join } from 'node:path';
import type { Blake3Implementation } from '../../host/blake3.ts';
import type { CleanSnapshot } from '../../host/clean-snapshot.ts';
import type { Observation } from '../../schema/wire.ts';
import { asBytes } from '../../schema/blake3.ts';
import type { Blake3 } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';
import { send } from '../../watcher/report.ts';
import { Reported } from '../../watcher/reported.ts';
import type { CleanSummary } from './clean-place.ts';
import type { LockRecords } from './lock-records.ts';
import { lockPathOf, type Place, reportedFile, RUNNER, TARGET, type Watching } from './look.ts';
import type { RunOutcome, RunRequest } from './run-parts.ts';

/** A snapshot that holds but for the content of these files. */
export interface Changed {
  readonly summary: CleanSummary;
  readonly paths: readonly string[];
  readonly snapshot: CleanSnapshot;
}

interface Read {
  readonly lock: LockRecords;
  readonly blake3: Blake3Implementation;
}

/** Asked once the project is ours: from here on nobody else changes what the snapshot says of it. */
export function canGoOn({ loaded, changed }: RunRequest, { lock, blake3 }: Read): changed is Changed;
