// Migration 4: what needs an output of something skipped is skipped with it, or it would wait for ever, and whatever
// collects it too.
//
// None of this may happen inside `paths_told`, which then would not fire again for what follows.

import type { Migration } from '../migration.ts';

const MADE_BY_SKIPPED = `p.hash IS NULL AND (SELECT status FROM states m WHERE m.id = p.maker_id) = 'skipped'`;

export const skipped: Migration = {
  id: 4,
  name: 'skipped',
  statements: [
    // Downwards in one statement: a trigger does not fire itself again.
    `CREATE TRIGGER states_skipped AFTER UPDATE OF status ON states
       WHEN NEW.status = 'skipped' AND OLD.status <> 'skipped'
         AND EXISTS (SELECT 1 FROM paths p JOIN inputs i ON i.path_id = p.id AND i.member = 0
           WHERE p.maker_id = NEW.id AND p.hash IS NULL) BEGIN
       UPDATE states SET status = 'skipped' WHERE id IN (
         WITH RECURSIVE below (id) AS (
           SELECT NEW.id
           UNION
           SELECT s.id FROM below JOIN paths p ON p.maker_id = below.id AND p.hash IS NULL
             JOIN inputs i ON i.path_id = p.id AND i.member = 0
             JOIN states s ON s.id = i.state_id AND s.status = 'stale')
         SELECT id FROM below WHERE id <> NEW.id);
     END`,
    // The three ways to come below it later: stale again, new, and by losing what was left of an earlier output.
    `CREATE TRIGGER states_below_skipped AFTER UPDATE OF status ON states
       WHEN NEW.status = 'stale' AND OLD.status <> 'stale'
         AND EXISTS (SELECT 1 FROM inputs i JOIN paths p ON p.id = i.path_id
           WHERE i.state_id = NEW.id AND i.member = 0 AND ${MADE_BY_SKIPPED}) BEGIN
       UPDATE states SET status = 'skipped' WHERE id = NEW.id;
     END`,
    `CREATE TRIGGER inputs_below_skipped AFTER INSERT ON inputs
       WHEN NEW.member = 0 AND EXISTS (SELECT 1 FROM paths p WHERE p.id = NEW.path_id AND ${MADE_BY_SKIPPED}) BEGIN
       UPDATE states SET status = 'skipped' WHERE id = NEW.state_id AND status = 'stale';
     END`,
    `CREATE TRIGGER paths_below_skipped AFTER UPDATE OF hash ON paths
       WHEN NEW.hash IS NULL AND OLD.hash IS NOT NULL
         AND (SELECT status FROM states WHERE id = NEW.maker_id) = 'skipped' BEGIN
       UPDATE states SET status = 'skipped' WHERE status = 'stale'
         AND id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id AND member = 0);
     END`,
    // As it was, but by what the row says by now: one of the above may have come first.
    'DROP TRIGGER states_settled',
    `CREATE TRIGGER states_settled AFTER UPDATE OF status ON states WHEN OLD.settled <> NEW.settled BEGIN
       UPDATE paths SET told = CASE WHEN (SELECT settled FROM states WHERE id = NEW.id) = 0 THEN 1
           WHEN hash IS NULL THEN 2 ELSE 0 END
         WHERE maker_id = NEW.id;
     END`,
  ],
};
