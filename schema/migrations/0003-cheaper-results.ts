// Migration 3: what a claim and a result cost.
//
// A statement inside a trigger opens the table and all its indexes anew for every row that fires it, so it is asked
// first whether it has anything to say, or the operation says it for all its rows at once.

import type { Migration } from '../migration.ts';

const MAKER_UNSETTLED = '(SELECT settled FROM states WHERE id = NEW.maker_id) = 0';
const TOLD = `CASE WHEN ${MAKER_UNSETTLED} THEN 1 WHEN NEW.hash IS NULL THEN 2 ELSE 0 END`;

const replaced = (name: string, text: string) => [`DROP TRIGGER ${name}`, `CREATE TRIGGER ${name} ${text}`];

export const cheaperResults: Migration = {
  id: 3,
  name: 'cheaper results',
  statements: [
    // The states themselves are told by the claim.
    ...replaced(
      'attempts_started',
      `AFTER INSERT ON attempts BEGIN
         INSERT INTO events (at, workflow_id, stage_id, entity_id, event, body)
           VALUES (NEW.started_at, NEW.workflow_id, NEW.stage_id, NEW.entity_id, 'stage_started',
                   json_object('token', NEW.token, 'runner', NEW.runner, 'run', NEW.run));
       END`,
    ),
    // Nearly always it is told already: whoever makes a path is not settled before it is there.
    ...replaced(
      'paths_there_or_not',
      `AFTER UPDATE OF hash ON paths
         WHEN (OLD.hash IS NULL) <> (NEW.hash IS NULL) AND NEW.told <> ${TOLD} BEGIN
         UPDATE paths SET told = ${TOLD} WHERE id = NEW.id;
       END`,
    ),
    // One statement for both kinds of readers.
    ...replaced(
      'paths_told',
      `AFTER UPDATE OF told ON paths
         WHEN OLD.told <> NEW.told AND EXISTS (SELECT 1 FROM inputs WHERE path_id = NEW.id) BEGIN
         UPDATE states SET blockers = blockers + (
             SELECT CASE i.member WHEN 0 THEN (NEW.told > 0) - (OLD.told > 0) ELSE (NEW.told = 1) - (OLD.told = 1) END
             FROM inputs i WHERE i.path_id = NEW.id AND i.state_id = states.id)
           WHERE id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id
             AND CASE member WHEN 0 THEN (NEW.told > 0) <> (OLD.told > 0) ELSE (NEW.told = 1) <> (OLD.told = 1) END);
       END`,
    ),
    // Nothing is new to states that never were made when a file appears or changes: they are stale, without a reason.
    ...replaced(
      'paths_changed',
      `AFTER UPDATE OF hash ON paths
         WHEN OLD.hash IS NOT NEW.hash AND EXISTS (
           SELECT 1 FROM inputs i JOIN states s ON s.id = i.state_id
           WHERE i.path_id = NEW.id AND (NEW.hash IS NULL OR s.status <> 'stale' OR s.cache_key IS NOT NULL)) BEGIN
         INSERT INTO reasons (state_id, kind, path_id, old, now, sequence)
           SELECT i.state_id, 'dep', NEW.id, OLD.hash, NEW.hash, NEW.sequence
           FROM inputs i JOIN states s ON s.id = i.state_id
           WHERE i.path_id = NEW.id AND s.source = 0 AND (s.cache_key IS NOT NULL OR s.status = 'running')
           ON CONFLICT (state_id, kind, path_id) DO UPDATE SET now = excluded.now, sequence = excluded.sequence;
         UPDATE states SET status = CASE source WHEN 1 THEN 'fresh' ELSE 'stale' END
           WHERE id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id) AND CASE source
             WHEN 1 THEN NEW.hash IS NOT NULL AND status = 'orphan'
             ELSE status IN ('fresh', 'skipped', 'failed', 'exhausted', 'orphan') END;
         UPDATE states SET status = 'orphan'
           WHERE NEW.hash IS NULL AND status <> 'running'
             AND coalesce((SELECT m.status FROM states m WHERE m.id = NEW.maker_id), 'orphan') = 'orphan'
             AND id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id AND driver = 1)
             AND NOT EXISTS (SELECT 1 FROM inputs i JOIN paths p ON p.id = i.path_id
               LEFT JOIN states m ON m.id = p.maker_id
               WHERE i.state_id = states.id AND i.driver = 1 AND (p.hash IS NOT NULL OR m.status <> 'orphan'));
       END`,
    ),
    // What a running state makes is no news about it, unless there is a reason that it answers.
    ...replaced(
      'paths_altered',
      `AFTER UPDATE OF hash ON paths
         WHEN OLD.hash IS NOT NEW.hash AND NEW.maker_id IS NOT NULL AND NEW.made_hash IS NOT NULL
           AND ((SELECT status FROM states WHERE id = NEW.maker_id) <> 'running'
             OR EXISTS (SELECT 1 FROM reasons WHERE state_id = NEW.maker_id)) BEGIN
         INSERT OR REPLACE INTO reasons (state_id, kind, path_id, old, now, sequence)
           SELECT s.id, CASE WHEN NEW.hash IS NULL THEN 'out-missing' ELSE 'out-differs' END,
                  NEW.id, NEW.made_hash, NEW.hash, NEW.sequence
           FROM states s WHERE s.id = NEW.maker_id AND s.status IN ('fresh', 'edited')
             AND NEW.hash IS NOT NEW.made_hash AND s.cache_key IS NOT NULL;
         DELETE FROM reasons WHERE state_id = NEW.maker_id AND kind IN ('out-missing', 'out-differs')
           AND path_id = NEW.id AND NEW.hash IS NEW.made_hash;
         UPDATE states SET status = CASE
             WHEN NEW.hash IS NULL THEN 'stale'
             WHEN NEW.hash = NEW.made_hash THEN
               CASE WHEN EXISTS (SELECT 1 FROM reasons r WHERE r.state_id = states.id) THEN 'stale' ELSE 'fresh' END
             WHEN made_token IS NOT NULL AND NOT EXISTS (
               SELECT 1 FROM records r, json_each(r.outs) o
               WHERE r.state_id = states.id AND o.value ->> 'hash' = 'blake3:' || lower(hex(NEW.hash)))
               THEN 'edited'
             ELSE 'stale' END
           WHERE id = NEW.maker_id AND status IN ('fresh', 'edited');
       END`,
    ),
  ],
};
