// What must hold of the tables at any moment, computed from first principles by plain SQL, as lists of what does not.

import type { Database } from '../../../api/store/database.ts';
import { sql } from '../../../api/store/database.ts';

const SETTLED = "('fresh', 'edited', 'skipped', 'orphan')";
const TOLD = `CASE WHEN m.status NOT IN ${SETTLED} THEN 1 WHEN p.hash IS NULL THEN 2 ELSE 0 END`;

/** Of a state `s`: something that it cannot do without is not made, because a condition is false. */
const LACKS_SKIPPED = `SELECT 1 FROM inputs n JOIN paths o ON o.id = n.path_id JOIN states k ON k.id = o.maker_id
  WHERE n.state_id = s.id AND n.member = 0 AND o.hash IS NULL AND k.status = 'skipped'`;

/** Each finds the rows that break it. */
const RULES: Readonly<Record<string, string>> = {
  'a stage counts its states by word': `
    SELECT g.id, w.value AS word, coalesce(c.n, -1) AS kept,
      (SELECT count(*) FROM states s WHERE s.stage_id = g.id AND
         CASE WHEN s.status = 'stale' AND s.blockers > 0 THEN 'waiting' ELSE s.status END = w.value) AS really
    FROM stages g JOIN json_each('["fresh","edited","stale","waiting","running","failed","exhausted","skipped","orphan"]') w
      LEFT JOIN counts c ON c.stage_id = g.id AND c.word = w.value
    WHERE kept <> really`,
  'no other counts': `
    SELECT * FROM counts WHERE stage_id NOT IN (SELECT id FROM stages)`,
  'a workflow counts its entities': `
    SELECT w.id, coalesce((SELECT n FROM entity_counts c WHERE c.workflow_id = w.id), 0) AS kept,
      (SELECT count(*) FROM entities e WHERE e.workflow_id = w.id) AS really
    FROM workflows w WHERE kept <> really`,
  'readers were told of each path how it is': `
    SELECT p.id, p.path, p.told, ${TOLD} AS really, m.status FROM paths p LEFT JOIN states m ON m.id = p.maker_id
    WHERE p.told <> really`,
  'a state counts what it waits for': `
    SELECT s.id, s.status, s.blockers, (SELECT count(*) FROM inputs i JOIN paths p ON p.id = i.path_id
        LEFT JOIN states m ON m.id = p.maker_id
        WHERE i.state_id = s.id AND (${TOLD} = 1 OR (${TOLD} = 2 AND i.member = 0))) AS really
    FROM states s WHERE s.blockers <> really`,
  'what is running has one open attempt, its newest': `
    SELECT s.id, s.status, s.token, (SELECT count(*) FROM attempts a WHERE a.state_id = s.id AND a.ended_at IS NULL) AS open
    FROM states s WHERE (s.status = 'running') <> (open > 0) OR open > 1
      OR (s.status = 'running' AND (s.lease_until IS NULL OR
          s.token <> (SELECT max(a.token) FROM attempts a WHERE a.state_id = s.id AND a.ended_at IS NULL)))`,
  'what is fresh has nothing to explain': `
    SELECT s.id, r.kind FROM states s JOIN reasons r ON r.state_id = s.id WHERE s.status IN ('fresh', 'skipped')`,
  'what is fresh has no failure': `
    SELECT s.id, f.error FROM states s JOIN failures f ON f.state_id = s.id WHERE s.status IN ('fresh', 'skipped')`,
  'what failed says why': `
    SELECT s.id, s.status FROM states s WHERE s.status IN ('failed', 'exhausted')
      AND NOT EXISTS (SELECT 1 FROM failures f WHERE f.state_id = s.id)`,
  'what failed and is not exhausted has a time to try again': `
    SELECT s.id FROM states s JOIN failures f ON f.state_id = s.id WHERE s.status = 'failed' AND f.retry_at IS NULL`,
  'nothing speaks of states or paths that are not': `
    SELECT 'input' AS what, state_id AS id FROM inputs WHERE state_id NOT IN (SELECT id FROM states)
      OR path_id NOT IN (SELECT id FROM paths)
    UNION ALL SELECT 'maker', id FROM paths WHERE maker_id IS NOT NULL AND maker_id NOT IN (SELECT id FROM states)
    UNION ALL SELECT 'reason', state_id FROM reasons WHERE state_id NOT IN (SELECT id FROM states)
    UNION ALL SELECT 'failure', state_id FROM failures WHERE state_id NOT IN (SELECT id FROM states)
    UNION ALL SELECT 'record', state_id FROM records WHERE state_id NOT IN (SELECT id FROM states)`,
  'at most four records each': `
    SELECT state_id, count(*) AS n FROM records GROUP BY state_id HAVING n > 4`,
  // The rig reports everything that a state reads as its deps, by absolute path.
  'what needs an output of something skipped is skipped': `
    SELECT s.id, s.status FROM states s WHERE s.status = 'stale' AND EXISTS (${LACKS_SKIPPED})`,
  'what is fresh was made from what is there': `
    SELECT s.id, g.name AS stage, p.path, d.value ->> 'hash' AS was, 'blake3:' || lower(hex(p.hash)) AS now
    FROM states s JOIN stages g ON g.id = s.stage_id JOIN records r ON r.state_id = s.id AND r.token = s.made_token
      JOIN inputs i ON i.state_id = s.id JOIN paths p ON p.id = i.path_id
      LEFT JOIN json_each(r.deps) d ON d.value ->> 'path' = p.path
    WHERE s.status IN ('fresh', 'skipped') AND s.source = 0 AND NOT EXISTS (${LACKS_SKIPPED}) AND
      CASE WHEN p.hash IS NOT NULL THEN 'blake3:' || lower(hex(p.hash)) END IS NOT d.value ->> 'hash'`,
  'what is fresh left what is there': `
    SELECT s.id, g.name AS stage, p.path FROM states s JOIN stages g ON g.id = s.stage_id JOIN paths p ON p.maker_id = s.id
    WHERE s.status = 'fresh' AND s.source = 0 AND (p.hash IS NULL OR p.hash IS NOT p.made_hash)`,
};

export async function brokenRules(db: Database): Promise<string[]> {
  const found = await db.batch(
    Object.values(RULES).map((text) => sql(text)),
    'read',
  );
  return Object.keys(RULES).flatMap((rule, i) =>
    found[i]!.rows.map((row) => `${rule}: ${JSON.stringify(row)}`),
  );
}

// Of what is left when there is nothing more to hand out: why each state is not made, or that nobody can say.
const STUCK = `WITH RECURSIVE
  excused (id) AS (
    SELECT id FROM states WHERE status = 'exhausted'
    UNION
    SELECT i.state_id FROM inputs i JOIN paths p ON p.id = i.path_id WHERE p.told = 2 AND i.member = 0
    UNION
    SELECT i.state_id FROM excused JOIN paths p ON p.maker_id = excused.id JOIN inputs i ON i.path_id = p.id),
  -- A stage that comes after another with something unsettled in it.
  held (id) AS (
    SELECT s.id FROM states s JOIN stage_links l ON l.stage_id = s.stage_id AND l.kind = 'after'
      JOIN states u ON u.stage_id = l.upstream_id WHERE u.status NOT IN ${SETTLED})
  SELECT s.id, g.name AS stage, e.name AS entity, s.status, s.blockers FROM states s
  JOIN stages g ON g.id = s.stage_id JOIN entities e ON e.id = s.entity_id
  WHERE s.status NOT IN ${SETTLED} AND s.id NOT IN (SELECT id FROM excused) AND s.id NOT IN (SELECT id FROM held)`;

export async function stuckStates(db: Database): Promise<string[]> {
  const [found] = await db.batch([sql(STUCK)], 'read');
  return found!.rows.map((row) => JSON.stringify(row));
}
