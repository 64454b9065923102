// Whether a claimed state has to be made: a look at its inputs and outputs, held against what was recorded of it.

import { explain, type Reason } from '../schema/reason.ts';
import { judge, type StateRecord } from '../schema/verdict.ts';
import type { Claimed } from '../schema/wire.ts';
import type { EntityId, StageId } from '../schema/words.ts';
import { type HashedOut, hashOuts } from './hash-outs.ts';
import { type LookContext, lookAtState, type SeenState } from './look-at-state.ts';
import type { Manifests } from './manifest.ts';
import { recordsInManifest } from './manifest-notes.ts';
import { type RecipeOf, recordsOf } from './records.ts';
import type { StateFiles } from './state-files.ts';

export interface JudgeContext extends LookContext {
  /** Whether there was a lock file when the run began: without one everything is a first run. */
  readonly hasLockFile: boolean;
  readonly recipe: RecipeOf;
  /** What the directories of fan-outs say of themselves; null where they are not asked. */
  readonly manifests: Manifests | null;
  /** Which stage made the file at an absolute path anew in this run. */
  readonly remadeBy: (path: string) => StageId | undefined;
}

export type Judged =
  /** `look` is null for a frozen state whose inputs are gone; skipped if a condition was false under this key. */
  | {
      readonly kind: 'vouched';
      readonly look: SeenState | null;
      readonly outs: readonly HashedOut[];
      readonly outcome: 'verified' | 'skipped';
    }
  | {
      readonly kind: 'stale';
      readonly look: SeenState;
      readonly outs: readonly HashedOut[];
      readonly reasons: readonly string[];
      readonly records: readonly StateRecord[];
    }
  | { readonly kind: 'missing'; readonly paths: readonly string[] }
  /** It would fail before any command is started. */
  | { readonly kind: 'unusable'; readonly reason: string };

export async function judgeClaim(item: Claimed, files: StateFiles, context: JudgeContext): Promise<Judged> {
  const { stage } = files;
  const asked = item.reasons as readonly Reason[];
  const forced = asked.some((each) => isForced(each, files));
  const look = await lookAtState(files, context);
  if (look.kind === 'unreadable') return { kind: 'unusable', reason: look.reason };
  if (look.kind === 'missing' && (forced || !stage.frozen)) return { kind: 'missing', paths: look.paths };
  const seen = look.kind === 'seen' ? look : null;
  const records = await knownRecords(item, files, { seen, context });
  const outs = await hashOuts(files, context);
  const verdict = judge({
    current: seen === null ? null : { key: seen.key, preimage: seen.preimage },
    records,
    hasLockFile: context.hasLockFile,
    outs: files.outs.flatMap(({ name, path, remote }) =>
      remote === null ? [{ path: name, hash: outs.find((out) => out.path === path)?.hash ?? null }] : [],
    ),
    ...{ editable: false, frozen: stage.frozen, forced, invalidatedBy: null, missing: [] },
    due: asked.some(({ reason }) => reason === 'always-due' || reason === 'after-ran'),
    ...{ upstream: upstreamOf(files, context), failure: null, nowMs: 0 },
  });
  if (verdict.verdict === 'waiting') return { kind: 'unusable', reason: frozenWithoutOutput(files) };
  if (verdict.verdict === 'skipped') return { kind: 'vouched', look: seen, outs: [], outcome: 'skipped' };
  if (verdict.verdict !== 'stale' || seen === null)
    return { kind: 'vouched', look: seen, outs, outcome: 'verified' };
  const reasons = whyOf(verdict.reasons, asked).map(explain);
  return { kind: 'stale', look: seen, outs, reasons, records };
}

/** What is wrong with an out on another machine nothing here can vouch for. */
function isForced(reason: Reason, { outs }: StateFiles): boolean {
  switch (reason.reason) {
    case 'forced':
    case 'invalidated':
      return true;
    case 'output-missing':
    case 'output-differs':
      return outs.some(({ path, remote }) => remote !== null && path === reason.path);
    default:
      return false;
  }
}

interface Known {
  readonly seen: SeenState | null;
  readonly context: JudgeContext;
}

async function knownRecords(
  item: Claimed,
  files: StateFiles,
  { seen, context }: Known,
): Promise<readonly StateRecord[]> {
  const { recipe, manifests } = context;
  const known = seen === null ? [] : await recordsOf(item, files, { look: seen, recipe });
  return known.length > 0 || manifests === null ? known : recordsInManifest(files, manifests);
}

/** What somebody asked for stands before what the files say. */
function whyOf(own: readonly Reason[], asked: readonly Reason[]): readonly Reason[] {
  const told = asked.filter(({ reason }) => ['forced', 'invalidated', 'after-ran'].includes(reason));
  return told.length > 0 ? told : own;
}

function upstreamOf({ inputs }: StateFiles, { remadeBy }: JudgeContext) {
  return inputs.flatMap(({ name, paths }) => {
    const stage = paths.map(remadeBy).find((each) => each !== undefined);
    return stage === undefined
      ? []
      : [{ stage, entity: '' as EntityId, status: 'settled' as const, reran: [name] }];
  });
}

function frozenWithoutOutput({ outs }: StateFiles): string {
  return `frozen, but ${outs.map(({ name }) => name).join(', ')} is not there; --force makes it`;
}
