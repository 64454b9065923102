// The staleness verdict: one pure function from what is known about a state to what should happen to it.
//
//   asked to run anyway ─────────────▶ stale        a file it needs is not there ───▶ waiting
//   frozen ──────────────────────────▶ fresh        something before it gave up ────▶ blocked
//   its key and outputs are recorded ▶ fresh        a person changed its output ────▶ edited
//   anything else ───────────────────▶ stale, unless it just failed: waiting, or exhausted

import { comparePreimages, type Key, type PathHash, type Preimage } from './key.ts';
import { type Reason, reasonFor } from './reason.ts';
import type { Blake3, EntityId, StageId } from './words.ts';

/** What was made under one key (SEMANTICS 1). Lock-file entries and accepted completions are both records. */
export interface StateRecord {
  readonly cacheKey: Blake3;
  readonly preimage: Preimage | null;
  readonly outs: readonly PathHash[];
  /** Its condition was false, so no output is expected. */
  readonly skipped: boolean;
}

export interface StateFacts {
  /** Null while something upstream has yet to make an input. */
  readonly current: { readonly key: Key; readonly preimage: Preimage } | null;
  /** Newest first. */
  readonly records: readonly StateRecord[];
  readonly hasLockFile: boolean;
  /** What is on disk at each declared out; null is missing. */
  readonly outs: readonly { readonly path: string; readonly hash: Blake3 | null }[];
  /** This database saw the present output produced, and no attempt was open since (SEMANTICS 5). */
  readonly editable: boolean;
  readonly frozen: boolean;
  /** A stage that runs every time, and something (a run, a changed input) has made it due. */
  readonly due: boolean;
  readonly forced: boolean;
  readonly invalidatedBy: string | null;
  readonly missing: readonly string[];
  readonly upstream: readonly UpstreamFact[];
  readonly failure: FailureFact | null;
  readonly nowMs: number;
}

export interface UpstreamFact {
  readonly stage: StageId;
  readonly entity: EntityId;
  readonly status: 'settled' | 'stale' | 'gave-up';
  /** The dep paths through which it made something new in this run. */
  readonly reran: readonly string[];
}

export interface FailureFact {
  /** Failures of another key do not count against this one. */
  readonly cacheKey: Blake3;
  readonly attempt: number;
  readonly error: string;
  readonly exhausted: boolean;
  readonly nextRetryMs: number | null;
}

export type Verdict =
  | {
      readonly verdict: 'fresh';
      readonly frozen: boolean;
      readonly adopt: boolean;
      readonly despite: readonly Reason[];
    }
  | { readonly verdict: 'skipped' }
  | { readonly verdict: 'edited'; readonly paths: readonly string[]; readonly outdated: readonly Reason[] }
  | { readonly verdict: 'stale'; readonly reasons: readonly Reason[] }
  | { readonly verdict: 'exhausted'; readonly reasons: readonly Reason[] }
  | { readonly verdict: 'waiting'; readonly cause: WaitCause; readonly reasons: readonly Reason[] }
  | {
      readonly verdict: 'blocked';
      readonly by: readonly { readonly stage: StageId; readonly entity: EntityId }[];
    };

export type WaitCause =
  | { readonly wait: 'missing'; readonly paths: readonly string[] }
  | { readonly wait: 'retry'; readonly atMs: number }
  | { readonly wait: 'frozen-without-output'; readonly paths: readonly string[] };

export function judge(facts: StateFacts): Verdict {
  // Before its inputs are looked at: a frozen stage needs none of them (SEMANTICS 6).
  if (facts.frozen && !facts.forced) return judgeFrozen(facts);
  if (facts.missing.length > 0)
    return { verdict: 'waiting', cause: { wait: 'missing', paths: facts.missing }, reasons: [] };
  const by = facts.upstream.filter(({ status }) => status === 'gave-up');
  if (by.length > 0) return { verdict: 'blocked', by: by.map(({ stage, entity }) => ({ stage, entity })) };
  if (facts.forced) return { verdict: 'stale', reasons: [{ reason: 'forced' }] };
  const reasons = ownReasons(facts);
  const edited = editedPaths(facts);
  if (edited.length > 0 && facts.invalidatedBy === null)
    return { verdict: 'edited', paths: edited, outdated: withoutOutputs(reasons) };
  if (reasons.length === 0) return recordNow(facts)?.skipped ? { verdict: 'skipped' } : fresh();
  return judgeFailure(facts, reasons);
}

function fresh(): Verdict {
  return { verdict: 'fresh', frozen: false, adopt: false, despite: [] };
}

function judgeFrozen(facts: StateFacts): Verdict {
  const paths = facts.outs.filter(({ hash }) => hash === null).map(({ path }) => path);
  const adopt = facts.records.length === 0;
  if (adopt && paths.length > 0)
    return { verdict: 'waiting', cause: { wait: 'frozen-without-output', paths }, reasons: [] };
  return { verdict: 'fresh', frozen: true, adopt, despite: adopt ? [] : ownReasons(facts) };
}

/** Everything that makes the state stale, most telling first; empty if a record vouches for it. */
function ownReasons(facts: StateFacts): Reason[] {
  const reasons: Reason[] = [];
  if (facts.invalidatedBy !== null) reasons.push({ reason: 'invalidated', by: facts.invalidatedBy });
  for (const { stage, entity, status } of facts.upstream) {
    if (status === 'stale') reasons.push({ reason: 'upstream-stale', stage, entity });
  }
  if (facts.current !== null) reasons.push(...keyReasons(facts));
  // Nobody could compute a key, so no record vouches for the state, whatever else is known.
  else if (reasons.length === 0) reasons.push({ reason: 'key-changed' });
  if (facts.due && reasons.length === 0) reasons.push({ reason: 'always-due' });
  return reasons;
}

function keyReasons(facts: StateFacts): Reason[] {
  if (facts.records.length === 0)
    return [facts.hasLockFile ? { reason: 'new-stage' } : { reason: 'no-lock-file' }];
  const record = recordNow(facts);
  if (record !== undefined) return record.skipped ? [] : outReasons(facts, record);
  const last = facts.records[0]!;
  if (last.preimage === null) return [{ reason: 'key-changed' }];
  const reran = new Map(
    facts.upstream.flatMap(({ stage, reran }) => reran.map((path) => [path, stage] as const)),
  );
  return comparePreimages(last.preimage, facts.current!.preimage).map((change) => reasonFor(change, reran));
}

function outReasons(facts: StateFacts, record: StateRecord): Reason[] {
  const recorded = new Map(record.outs.map(({ path, hash }) => [path, hash]));
  return facts.outs.flatMap(({ path, hash }): Reason[] => {
    const old = recorded.get(path);
    if (hash === null) return [{ reason: 'output-missing', path }];
    if (old === undefined || old === hash) return [];
    return [{ reason: 'output-differs', path, old, now: hash }];
  });
}

/** Outputs whose bytes no record knows, though we saw them made and nobody of ours was writing. */
function editedPaths(facts: StateFacts): string[] {
  if (!facts.editable || facts.outs.some(({ hash }) => hash === null)) return [];
  const known = new Set(facts.records.flatMap(({ outs }) => outs.map(({ path, hash }) => `${hash} ${path}`)));
  return facts.outs.filter(({ path, hash }) => !known.has(`${hash} ${path}`)).map(({ path }) => path);
}

function withoutOutputs(reasons: readonly Reason[]): Reason[] {
  return reasons.filter(({ reason }) => reason !== 'output-differs');
}

/** Two records may share a key if a command is not reproducible: the one whose outputs are there counts. */
function recordNow(facts: StateFacts): StateRecord | undefined {
  const same = facts.records.filter(({ cacheKey }) => cacheKey === facts.current?.key.cacheKey);
  return same.find((record) => record.skipped || outReasons(facts, record).length === 0) ?? same[0];
}

function judgeFailure(facts: StateFacts, reasons: readonly Reason[]): Verdict {
  const { failure, current } = facts;
  if (failure === null || current === null || failure.cacheKey !== current.key.cacheKey)
    return { verdict: 'stale', reasons };
  const { attempt, error } = failure;
  const told: Reason[] = [...reasons, { reason: 'last-attempt-failed', attempt, error }];
  if (failure.exhausted) return { verdict: 'exhausted', reasons: told };
  if (failure.nextRetryMs !== null && failure.nextRetryMs > facts.nowMs) {
    return { verdict: 'waiting', cause: { wait: 'retry', atMs: failure.nextRetryMs }, reasons: told };
  }
  return { verdict: 'stale', reasons: told };
}
