// What a watcher on one target has to look at, per workflow.

import type { PlacedPath, PlacedStage } from '../../schema/discovery/registry.ts';
import { sql } from './database.ts';
import type { Store } from './store.ts';

export interface Watched {
  readonly workflow: string;
  /** Changes whenever the workflow does: then everything it matches is to be reported again. */
  readonly definition: string;
  readonly root: string;
  readonly settle_ms: number;
  readonly scan_interval_ms: number;
  readonly poll: 'auto' | boolean;
  readonly ignore: readonly string[];
  readonly sentinel: string | null;
  readonly patterns: readonly WatchedPattern[];
}

export interface WatchedPattern {
  /** Absolute. */
  readonly pattern: string;
  readonly stage: string;
  readonly role: 'dep' | 'code' | 'out' | 'source';
  /** Of a fan-out: the files below the pattern's directory that are reported one by one. */
  readonly glob: string | null;
}

export interface WatchList {
  /** Another one means that nothing was ever reported here. */
  readonly database: number;
  readonly workflows: readonly Watched[];
}

export async function watchList({ db, registered }: Store, target: string): Promise<WatchList> {
  const known = await registered.checked();
  const [identity] = await db.batch([sql("SELECT value FROM counters WHERE name = 'identity'")], 'read');
  const workflows = [...known.workflows.values()]
    .map((workflow): Watched => {
      const { settleMs, scanIntervalMs, poll, ignore, sentinel } = workflow.workflow.watch;
      const stages = known.registry.stages.filter(({ of }) => of.name === workflow.name);
      return {
        workflow: workflow.name,
        definition: workflow.definition,
        root: workflow.root,
        settle_ms: settleMs,
        scan_interval_ms: scanIntervalMs,
        poll,
        ignore,
        sentinel,
        patterns: stages.flatMap((placed) => patternsOf(placed, target)),
      };
    })
    .filter(({ patterns }) => patterns.length > 0);
  return { database: identity!.rows[0]!.value as number, workflows };
}

function patternsOf({ stage, deps, code, outs }: PlacedStage, target: string): WatchedPattern[] {
  const on = (paths: readonly PlacedPath[], role: WatchedPattern['role']) =>
    paths.flatMap(({ target: there, pattern }, index): WatchedPattern[] => {
      const glob =
        role === 'dep' && index === 0 && stage.fanOut !== null ? (stage.fanOut.glob ?? '**') : null;
      return there === target ? [{ pattern: pattern.text, stage: stage.id, role, glob }] : [];
    });
  if (stage.kind === 'source') return on(outs, 'source');
  return [...on(deps, 'dep'), ...on(code, 'code'), ...on(outs, 'out')];
}
