// Why a state is not fresh, one tagged reason each, and the sentence a person reads (batuta §2.4).

import { shortHash } from './blake3.ts';
import { shown } from './diagnostic.ts';
import type { KeyChange } from './key.ts';
import { type Blake3, type EntityId, type Json, type StageId, unreachable } from './words.ts';

export type Reason =
  | { readonly reason: 'no-lock-file' }
  | { readonly reason: 'new-stage' }
  | { readonly reason: 'cmd-changed' }
  | {
      readonly reason: 'code-changed';
      readonly path: string;
      readonly old: Blake3 | null;
      readonly now: Blake3 | null;
    }
  | { readonly reason: 'param-changed'; readonly name: string; readonly old?: Json; readonly now?: Json }
  | {
      readonly reason: 'dep-changed';
      readonly path: string;
      readonly old: Blake3 | null;
      readonly now: Blake3 | null;
    }
  | {
      readonly reason: 'upstream-reran';
      readonly path: string;
      readonly stage: StageId;
      readonly old: Blake3 | null;
      readonly now: Blake3 | null;
    }
  | { readonly reason: 'deps-reordered' }
  | { readonly reason: 'key-changed' }
  | { readonly reason: 'output-missing'; readonly path: string }
  | { readonly reason: 'output-differs'; readonly path: string; readonly old: Blake3; readonly now: Blake3 }
  | { readonly reason: 'last-attempt-failed'; readonly attempt: number; readonly error: string }
  | { readonly reason: 'invalidated'; readonly by: string }
  | { readonly reason: 'upstream-stale'; readonly stage: StageId; readonly entity: EntityId }
  /** An action is due again when a stage that it comes after has made something. */
  | { readonly reason: 'after-ran'; readonly stage: StageId }
  | { readonly reason: 'always-due' }
  | { readonly reason: 'forced' };

export function explain(reason: Reason): string {
  switch (reason.reason) {
    case 'no-lock-file':
      return 'no lock file found — first run';
    case 'new-stage':
      return 'stage not found in lock file — new stage';
    case 'cmd-changed':
      return 'cmd_hash changed (command template modified)';
    case 'code-changed':
      return `cmd_hash changed: ${shown(reason.path)} ${between(reason.old, reason.now)}`;
    case 'param-changed':
      return `params_hash changed: ${shown(reason.name)} ${asText(reason.old)} → ${asText(reason.now)}`;
    case 'dep-changed':
      return `deps_hash changed: ${shown(reason.path)} ${between(reason.old, reason.now)}`;
    case 'upstream-reran':
      return `deps_hash changed: ${shown(reason.path)} (upstream '${shown(reason.stage)}' re-ran)`;
    case 'deps-reordered':
      return 'deps_hash changed (deps listed in another order)';
    case 'key-changed':
      return 'cache_key changed (what it was made of is not recorded)';
    case 'output-missing':
      return `output missing: ${shown(reason.path)}`;
    case 'output-differs':
      return `output differs from what was recorded: ${shown(reason.path)} ${between(reason.old, reason.now)}`;
    case 'last-attempt-failed':
      return `last attempt failed (attempt ${reason.attempt}): ${shown(reason.error)}`;
    case 'invalidated':
      return `invalidated by ${shown(reason.by)}`;
    case 'upstream-stale':
      return `upstream '${stateName(reason.stage, reason.entity)}' is stale`;
    case 'after-ran':
      return `'${shown(reason.stage)}', which it comes after, ran`;
    case 'always-due':
      return 'runs every time (deterministic: false, or nothing before it)';
    case 'forced':
      return '--force flag specified';
    default:
      return unreachable(reason);
  }
}

/** What a difference between two keys means to a state whose upstream may have run just now. */
export function reasonFor(change: KeyChange, reran: ReadonlyMap<string, StageId>): Reason {
  switch (change.change) {
    case 'cmd':
      return { reason: 'cmd-changed' };
    case 'code':
      return { reason: 'code-changed', path: change.path, old: change.old, now: change.now };
    case 'param':
      return {
        reason: 'param-changed',
        name: change.name,
        ...given('old', change.old),
        ...given('now', change.now),
      };
    case 'deps-order':
      return { reason: 'deps-reordered' };
    case 'dep': {
      const { path, old, now } = change;
      const stage = reran.get(path);
      return stage === undefined
        ? { reason: 'dep-changed', path, old, now }
        : { reason: 'upstream-reran', path, stage, old, now };
    }
    default:
      return unreachable(change);
  }
}

export function stateName(stage: StageId, entity: EntityId): string {
  return entity === '' ? shown(stage) : `${shown(stage)}@${shown(entity)}`;
}

function given<K extends string>(key: K, value: Json | undefined) {
  return value === undefined ? {} : ({ [key]: value } as Record<K, Json>);
}

function between(old: Blake3 | null, now: Blake3 | null): string {
  if (old === null) return `[new: ${shortHash(now!)}]`;
  if (now === null) return `[gone: was ${shortHash(old)}]`;
  return `[${shortHash(old)} → ${shortHash(now)}]`;
}

function asText(value: Json | undefined): string {
  return value === undefined ? '(none)' : shown(JSON.stringify(value));
}
