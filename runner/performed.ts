// What came of a claim, and the post that tells it.

import type { Key, Preimage } from '../schema/key.ts';
import type { Claimed, CompleteItem, FailItem, Observation } from '../schema/wire.ts';
import type { HashedOut } from './hash-outs.ts';
import type { SeenState } from './look-at-state.ts';
import type { StateFiles } from './state-files.ts';

export interface Performed {
  readonly item: Claimed;
  readonly files: StateFiles;
  readonly post:
    | { readonly kind: 'complete'; readonly item: Partial<CompleteItem> & { readonly token: number } }
    | { readonly kind: 'fail'; readonly item: FailItem }
    | { readonly kind: 'release'; readonly because: string };
  /** What was found to be other than the control plane thinks. */
  readonly observations: readonly Observation[];
  readonly reasons: readonly string[];
  /** That a condition turned out false just now. */
  readonly skippedBecause: string | null;
  /** That it was given back because a disk is full. */
  readonly noRoom: string | null;
  readonly warnings: readonly string[];
  readonly key: { readonly key: Key; readonly preimage: Preimage } | null;
  readonly outs: readonly HashedOut[];
  readonly seconds: number;
}

export interface About {
  readonly item: Claimed;
  readonly files: StateFiles;
  readonly look?: SeenState | null;
  readonly reasons?: readonly string[];
}

export function withoutResult({ item, files, look, reasons }: About) {
  const key = look == null ? null : { key: look.key, preimage: look.preimage };
  const nothing = {
    skippedBecause: null,
    noRoom: null,
    warnings: [],
    outs: [],
    seconds: 0,
    observations: [],
  };
  return { item, files, key, reasons: reasons ?? [], ...nothing };
}

/** What a person reads of many inputs is a few; what the control plane compares is their number and root hash. */
const MOST_CONSUMED = 500;

interface Completed extends About {
  readonly outs: readonly HashedOut[];
  readonly outcome: 'made' | 'verified' | 'skipped';
  readonly warnings: readonly string[];
  readonly seconds: number;
}

export function completePost(completed: Completed): Performed {
  const { item, look, outs, outcome, reasons = [], warnings, seconds } = completed;
  const consumed = look == null || look.consumed.length > MOST_CONSUMED ? [] : [...look.consumed];
  return {
    ...withoutResult(completed),
    outs,
    warnings,
    seconds,
    post: {
      kind: 'complete',
      item: {
        token: item.token,
        outcome,
        consumed,
        outs: outs.map(({ path, hash, size, files }) => ({
          path,
          hash,
          size,
          ...(files === undefined ? {} : { files }),
        })),
        reasons: [...reasons],
        seconds,
        ...(look == null ? {} : { cache_key: look.key.cacheKey, deps: [...look.preimage.deps] }),
        ...(completed.files.outs.some(({ remote }) => remote !== null) ? { elsewhere: true } : {}),
        ...(outs.length === 1 ? { content_hash: outs[0]!.hash } : {}),
      },
    },
  };
}

/** Nothing was started, for a record tells what would come of it. */
export function isVouched({ post, skippedBecause }: Performed): boolean {
  if (post.kind !== 'complete') return false;
  return post.item.outcome === 'verified' || (post.item.outcome === 'skipped' && skippedBecause === null);
}

export function failedPost(
  about: About,
  error: string,
  ended: { readonly outcome: FailItem['outcome']; readonly logTail: string; readonly seconds: number } = {
    outcome: { kind: 'error' },
    logTail: '',
    seconds: 0,
  },
): Performed {
  const { item, look, reasons = [] } = about;
  return {
    ...withoutResult(about),
    seconds: ended.seconds,
    post: {
      kind: 'fail',
      item: {
        token: item.token,
        outcome: ended.outcome,
        error: error.slice(0, 10_000),
        log_tail: ended.logTail,
        seconds: ended.seconds,
        reasons: [...reasons],
        ...(look == null ? {} : { cache_key: look.key.cacheKey }),
      },
    },
  };
}

export function released(about: About, because: string, observations: readonly Observation[]): Performed {
  return { ...withoutResult(about), observations, post: { kind: 'release', because } };
}
