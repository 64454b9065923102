// Writes down what was discovered: paths, entities, states, what they read and make. What is known already stays.

import type { Discovery } from '../../schema/discovery/discover.ts';
import { type Statement, sql } from './database.ts';
import type { Registered } from './registered.ts';

/** Far below what one value may be, and few enough for any body of 1 MB. */
const CHUNK_LENGTH = 800_000;

export function writeDiscovery(known: Registered, found: Discovery, nowMs: number): Statement[] {
  const workflowOf = (stage: number) => known.stages.get(stage)!.of.id;
  const states = found.states.map(({ stage, entity, source }) => [
    workflowOf(stage),
    stage,
    entity,
    source ? 1 : 0,
  ]);
  const inputs = strictest(found.inputs).map(({ stage, entity, target, path, member, driver }) => [
    ...[workflowOf(stage), stage, entity, target, path, member ? 1 : 0, driver ? 1 : 0],
  ]);
  const outs = found.outs.map(({ stage, entity, target, path }) => [
    workflowOf(stage),
    stage,
    entity,
    target,
    path,
  ]);
  const lookups = found.lookups.map(({ stage, entity, target, glob, prefix, slashes }) => [
    ...[workflowOf(stage), stage, entity, target, glob, prefix, slashes],
  ]);
  const followers = found.followers.map(({ stage, entityGlob, target, path }) => [
    ...[workflowOf(stage), stage, entityGlob, target, path],
  ]);
  return [
    ...pathsOf([...found.inputs, ...found.outs, ...found.followers]),
    ...inChunks(states).map((json) => sql(ENTITIES, json, nowMs)),
    ...inChunks(states).map((json) => sql(STATES, json)),
    ...inChunks(outs).map((json) => sql(OUTS, json)),
    ...inChunks(inputs).map((json) => sql(INPUTS, json)),
    ...inChunks(lookups).map((json) => sql(LOOKUPS, json)),
    ...inChunks(followers).map((json) => sql(FOLLOWERS, json)),
    ...inChunks(outs).map((json) => sql(COLLISIONS, json, nowMs)),
    ...inChunks(outs).map((json) => sql(COLLIDED, json)),
  ];
}

export function pathsOf(places: readonly { readonly target: string; readonly path: string }[]): Statement[] {
  const distinct = new Map(places.map(({ target, path }) => [`${target}\0${path}`, [target, path]]));
  return inChunks([...distinct.values()]).map((json) => sql(PATHS, json));
}

/** JSON texts that each fit into one value; none for no rows. */
export function inChunks(rows: readonly unknown[]): string[] {
  const chunks: string[] = [];
  let parts: string[] = [];
  let length = 0;
  const flush = () => {
    if (parts.length > 0) chunks.push(`[${parts.join(',')}]`);
    [parts, length] = [[], 0];
  };
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (length + text.length > CHUNK_LENGTH) flush();
    parts.push(text);
    length += text.length + 1;
  }
  flush();
  return chunks;
}

/** Of two ways in which a state reads one path, the one that waits for it counts. */
function strictest(inputs: Discovery['inputs']): Discovery['inputs'] {
  const byEdge = new Map<string, Discovery['inputs'][number]>();
  for (const input of inputs) {
    const key = `${input.stage}\0${input.entity}\0${input.target}\0${input.path}`;
    const before = byEdge.get(key);
    if (before === undefined) byEdge.set(key, input);
    else
      byEdge.set(key, {
        ...input,
        member: before.member && input.member,
        driver: before.driver || input.driver,
      });
  }
  return [...byEdge.values()];
}

const PATHS = `INSERT INTO paths (target, path)
  SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;

const ENTITIES = `INSERT INTO entities (workflow_id, name, discovered_at)
  SELECT DISTINCT value ->> 0, value ->> 2, ?2 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`;

// An orphan whose source is there again, or whose stage was rewired, lives again.
const STATES = `INSERT INTO states (workflow_id, stage_id, entity_id, source, status)
  SELECT v.value ->> 0, v.value ->> 1, e.id, v.value ->> 3,
         CASE WHEN v.value ->> 3 THEN 'fresh' ELSE 'stale' END
  FROM json_each(?) v JOIN entities e ON e.workflow_id = v.value ->> 0 AND e.name = v.value ->> 2
  WHERE true
  ON CONFLICT (stage_id, entity_id) DO UPDATE SET status = excluded.status WHERE states.status = 'orphan'`;

/** The first columns of every list are the state; this finds it. */
const OF_STATE = `JOIN entities e ON e.workflow_id = v.value ->> 0 AND e.name = v.value ->> 2
  JOIN states s ON s.stage_id = v.value ->> 1 AND s.entity_id = e.id`;

const OUTS = `UPDATE paths SET maker_id = x.state_id
  FROM (SELECT s.id AS state_id, v.value ->> 3 AS target, v.value ->> 4 AS path FROM json_each(?) v ${OF_STATE}) x
  WHERE paths.target = x.target AND paths.path = x.path AND paths.maker_id IS NULL`;

const INPUTS = `INSERT INTO inputs (path_id, state_id, member, driver)
  SELECT p.id, s.id, v.value ->> 5, v.value ->> 6
  FROM json_each(?) v ${OF_STATE} JOIN paths p ON p.target = v.value ->> 3 AND p.path = v.value ->> 4
  WHERE true ON CONFLICT DO NOTHING`;

const LOOKUPS = `INSERT INTO inputs (path_id, state_id, member, driver)
  SELECT p.id, s.id, 1, 0
  FROM json_each(?) v ${OF_STATE}
  JOIN paths p ON p.target = v.value ->> 3 AND p.path >= v.value ->> 5 AND p.path < (v.value ->> 5) || char(1114111)
   AND p.path GLOB (v.value ->> 4)
   AND length(p.path) - length(replace(p.path, '/', '')) = v.value ->> 6
  WHERE true ON CONFLICT DO NOTHING`;

const FOLLOWERS = `INSERT INTO inputs (path_id, state_id, member, driver)
  SELECT p.id, s.id, 1, 0
  FROM json_each(?) v
  JOIN entities e ON e.workflow_id = v.value ->> 0 AND e.name GLOB (v.value ->> 2)
  JOIN states s ON s.stage_id = v.value ->> 1 AND s.entity_id = e.id
  JOIN paths p ON p.target = v.value ->> 3 AND p.path = v.value ->> 4
  WHERE true ON CONFLICT DO NOTHING`;

// Two writers of one path are only known when a concrete path collides (SEMANTICS 14). A trigger keeps the second from
// being made for as long as it has a rival.
const COLLISIONS = `INSERT INTO failures (state_id, failures, error, first_failed_at, last_failed_at)
  SELECT s.id, 1, 'writes ' || p.path || ', which ' || w.name || '#' || g.name || ' writes too', ?2, ?2
  FROM json_each(?1) v ${OF_STATE}
  JOIN paths p ON p.target = v.value ->> 3 AND p.path = v.value ->> 4 AND p.maker_id <> s.id
  JOIN states o ON o.id = p.maker_id JOIN stages g ON g.id = o.stage_id JOIN workflows w ON w.id = o.workflow_id
  WHERE true ON CONFLICT (state_id) DO NOTHING`;

const COLLIDED = `UPDATE states SET rival_id = x.rival
  FROM (SELECT s.id, max(nullif(p.maker_id, s.id)) AS rival FROM json_each(?) v ${OF_STATE}
        JOIN paths p ON p.target = v.value ->> 3 AND p.path = v.value ->> 4 GROUP BY s.id) x
  WHERE states.id = x.id AND states.rival_id IS NOT x.rival`;
