// Takes what a watcher saw: one batch, whatever its size. An unchanged hash writes nothing; a changed one makes its
// direct readers stale (by trigger, see migration 1); a new path makes the states that exist because of it.

import { discover, type SeenPath } from '../../schema/discovery/discover.ts';
import type { Observation, WatcherFacts } from '../../schema/wire.ts';
import type { TargetName } from '../../schema/words.ts';
import { type Statement, sql } from './database.ts';
import { inChunks, pathsOf, writeDiscovery } from './discovered.ts';
import { asBlob } from './hashes.ts';
import { NEWEST_TOKEN } from './newest-token.ts';
import { type Registered, unlessOutdated } from './registered.ts';
import { seenMachine } from './seen-machine.ts';
import type { Store } from './store.ts';

export interface Observed {
  readonly observed: number;
  /** Paths whose content is another than what was known. */
  readonly changed: number;
  /** States that these paths stand for, known before or not. */
  readonly discovered: number;
}

interface Report {
  readonly target: string;
  readonly watcher: string;
  readonly facts?: WatcherFacts | undefined;
  readonly observations: readonly Observation[];
}

export function observe(store: Store, report: Report): Promise<Observed> {
  return store.registered.decide(async (known) => {
    const nowMs = store.nowMs();
    const target = report.target as TargetName;
    const relevant = report.observations.filter(({ path }) => isRelevant(known, target, path));
    const present = relevant.flatMap((each): SeenPath[] => ('gone' in each ? [] : [{ target, ...each }]));
    const found = discover(known.registry, present);
    const changes = writeHashes(target, relevant, nowMs);
    const before: Statement[] = [
      unlessOutdated(known),
      ...pathsOf(present),
      ...writeDiscovery(known, found, nowMs),
    ];
    const sighting = {
      ...{ role: 'watcher' as const, name: report.watcher, target, nowMs },
      ...(report.facts === undefined ? {} : { facts: report.facts }),
    };
    const seen = store.sightings.isTold(sighting) ? [] : [seenMachine(sighting)];
    const results = await store.db.batch([...seen, ...before, ...changes], 'write');
    if (seen.length > 0) store.sightings.told(sighting);
    const changed = results
      .slice(seen.length + before.length)
      .reduce((sum, { rows }) => sum + rows.length, 0);
    return { observed: report.observations.length, changed, discovered: found.states.length };
  });
}

/** A path that no pattern asks about is not worth a row. */
function isRelevant({ registry }: Registered, target: TargetName, path: string): boolean {
  const has = (found: readonly unknown[] | undefined) => (found?.length ?? 0) > 0;
  return (
    has(registry.readers.get(target)?.match(path)) ||
    has(registry.makers.get(target)?.match(path)) ||
    has(registry.directoryReaders.get(target)?.around(path)) ||
    has(registry.directoryMakers.get(target)?.around(path))
  );
}

function writeHashes(target: string, observations: readonly Observation[], nowMs: number): Statement[] {
  const rows = observations.map((each) =>
    'gone' in each
      ? [each.path]
      : [each.path, each.hash, each.size, ...(each.files === undefined ? [] : [each.files])],
  );
  return inChunks(rows).map((json) => sql(HASHES, json, target, nowMs));
}

// Of a path that nobody makes it is known at once what its readers are to be told; of the others a trigger finds it out.
const HASHES = `UPDATE paths SET
    told = CASE WHEN paths.maker_id IS NOT NULL THEN paths.told WHEN x.hash IS NULL THEN 2 ELSE 0 END,
    hash = x.hash, size = x.size, files = x.files, seen_at = ?3,
    discovered_at = coalesce(paths.discovered_at, ?3),
    sequence = ${NEWEST_TOKEN}
  FROM (SELECT value ->> 0 AS path, ${asBlob('value ->> 1')} AS hash, value ->> 2 AS size, value ->> 3 AS files
        FROM json_each(?1)) x
  WHERE paths.target = ?2 AND paths.path = x.path AND paths.hash IS NOT x.hash
  RETURNING paths.id`;
