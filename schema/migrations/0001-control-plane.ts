// Migration 1: the tables of the control plane, and the triggers that keep what follows from a row.
//
// A request changes a path or a state; what this implies for other rows is said once, here, as triggers, so
// that no operation can forget it and no count can drift:
//
//   path changed ──▶ its readers are stale, with the reason ──▶ a settled state became unsettled
//        │           its maker is stale or edited                        │
//        ▼                                                               ▼
//   path appeared or vanished ──────────▶ told ◀────────────── what the maker makes is not to be read
//                                          │
//                                          ▼
//                        blockers of its readers ──▶ word ──▶ counts per stage
//
// `told` is what readers were told of a path: 0 it may be read, 1 its maker is not settled, 2 it is not there.
// Blockers count only direct makers; what is further up is looked at when somebody claims (SEMANTICS 4).
// Time never enters a trigger: "since the claim" is told by tokens, which only grow. A path remembers the newest
// token at its last change (`sequence`), so a path changed after the claim with token T has sequence ≥ T.

import type { Migration } from '../migration.ts';

const TABLES = [
  `CREATE TABLE counters (
     name TEXT PRIMARY KEY, value INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  // The identity tells a watcher that what it has reported was reported to another database.
  "INSERT INTO counters VALUES ('registry', 1), ('identity', abs(random() % 9007199254740991))",

  `CREATE TABLE workflows (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     root TEXT NOT NULL,
     target TEXT NOT NULL,
     definition BLOB NOT NULL,
     registered_at INTEGER NOT NULL,
     paused_at INTEGER,
     deleted_at INTEGER
   ) STRICT`,

  `CREATE TABLE definitions (
     workflow_id INTEGER NOT NULL,
     hash BLOB NOT NULL,
     source TEXT NOT NULL,
     normal_form TEXT NOT NULL,
     registered_at INTEGER NOT NULL,
     registered_by TEXT NOT NULL,
     PRIMARY KEY (workflow_id, hash)
   ) STRICT`,
  'CREATE INDEX definitions_hash ON definitions (hash)',

  `CREATE TABLE stages (
     id INTEGER PRIMARY KEY,
     workflow_id INTEGER NOT NULL,
     name TEXT NOT NULL,
     position INTEGER NOT NULL,
     target TEXT NOT NULL,
     lenient INTEGER NOT NULL,
     removed_at INTEGER,
     UNIQUE (workflow_id, name)
   ) STRICT`,

  // `after`: nothing of the stage starts before all of the other is settled; one that only acts is roused by it.
  // `far`: further up than the next.
  `CREATE TABLE stage_links (
     stage_id INTEGER NOT NULL,
     upstream_id INTEGER NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('after', 'far')),
     rouses INTEGER NOT NULL,
     PRIMARY KEY (stage_id, kind, upstream_id)
   ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX stage_links_upstream ON stage_links (upstream_id) WHERE rouses = 1',

  `CREATE TABLE entities (
     id INTEGER PRIMARY KEY,
     workflow_id INTEGER NOT NULL,
     name TEXT NOT NULL,
     discovered_at INTEGER NOT NULL,
     UNIQUE (workflow_id, name)
   ) STRICT`,

  // What is known of each path on each target. Paths stand first in the key: with the target first, a planner that
  // knows nothing of the data goes through all paths of a target. `made_hash` is what its maker left there.
  `CREATE TABLE paths (
     id INTEGER PRIMARY KEY,
     target TEXT NOT NULL,
     path TEXT NOT NULL,
     hash BLOB,
     size INTEGER,
     files INTEGER,
     made_hash BLOB,
     maker_id INTEGER,
     sequence INTEGER NOT NULL DEFAULT 0,
     told INTEGER NOT NULL DEFAULT 2,
     discovered_at INTEGER,
     seen_at INTEGER,
     UNIQUE (path, target)
   ) STRICT`,
  'CREATE INDEX paths_maker ON paths (maker_id) WHERE maker_id IS NOT NULL',

  // `rival_id`: the state that already makes one of its outs. While there is one, nobody is given this state.
  `CREATE TABLE states (
     id INTEGER PRIMARY KEY,
     workflow_id INTEGER NOT NULL,
     stage_id INTEGER NOT NULL,
     entity_id INTEGER NOT NULL,
     source INTEGER NOT NULL DEFAULT 0,
     status TEXT NOT NULL CHECK (status IN
       ('fresh', 'edited', 'stale', 'running', 'failed', 'exhausted', 'skipped', 'orphan')),
     blockers INTEGER NOT NULL DEFAULT 0,
     settled INTEGER NOT NULL GENERATED ALWAYS AS (status IN ('fresh', 'edited', 'skipped', 'orphan')) VIRTUAL,
     word TEXT NOT NULL GENERATED ALWAYS AS
       (CASE WHEN status = 'stale' AND blockers > 0 THEN 'waiting' ELSE status END) VIRTUAL,
     stale_since INTEGER,
     cache_key BLOB,
     content_hash BLOB,
     made_token INTEGER,
     produced_at INTEGER,
     produced_by TEXT,
     token INTEGER,
     lease_until INTEGER,
     losses INTEGER NOT NULL DEFAULT 0,
     rival_id INTEGER,
     UNIQUE (stage_id, entity_id)
   ) STRICT`,
  "CREATE INDEX states_claimable ON states (stage_id, entity_id) WHERE status = 'stale' AND blockers = 0",
  "CREATE INDEX states_waiting ON states (stage_id, entity_id) WHERE status = 'stale' AND blockers > 0",
  "CREATE INDEX states_running ON states (workflow_id, entity_id) WHERE status = 'running'",
  "CREATE INDEX states_leased ON states (lease_until) WHERE status = 'running'",
  "CREATE INDEX states_orphaned ON states (stage_id, entity_id) WHERE status = 'orphan' AND source = 0",
  "CREATE INDEX states_gave_up ON states (workflow_id, stage_id) WHERE status = 'exhausted'",
  'CREATE INDEX states_entity ON states (workflow_id, entity_id)',
  'CREATE INDEX states_rivals ON states (rival_id) WHERE rival_id IS NOT NULL',

  // `member`: its absence holds nobody up. `driver`: the entity is there because of it.
  `CREATE TABLE inputs (
     path_id INTEGER NOT NULL,
     state_id INTEGER NOT NULL,
     member INTEGER NOT NULL,
     driver INTEGER NOT NULL,
     PRIMARY KEY (path_id, state_id)
   ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX inputs_state ON inputs (state_id, path_id)',

  // Why a state that was made once is stale. A state that never was has none: that is its reason.
  `CREATE TABLE reasons (
     state_id INTEGER NOT NULL,
     kind TEXT NOT NULL,
     path_id INTEGER NOT NULL,
     old BLOB,
     now BLOB,
     detail TEXT,
     sequence INTEGER NOT NULL,
     PRIMARY KEY (state_id, kind, path_id)
   ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE failures (
     state_id INTEGER PRIMARY KEY,
     failures INTEGER NOT NULL,
     cache_key BLOB,
     exit_code INTEGER,
     error TEXT NOT NULL,
     details TEXT,
     first_failed_at INTEGER NOT NULL,
     last_failed_at INTEGER NOT NULL,
     retry_at INTEGER
   ) STRICT`,
  'CREATE INDEX failures_retry ON failures (retry_at) WHERE retry_at IS NOT NULL',

  // SEMANTICS 1. `token` orders them; a recipe is the part of the preimage that the entities of a stage share.
  `CREATE TABLE records (
     state_id INTEGER NOT NULL,
     cache_key BLOB NOT NULL,
     token INTEGER NOT NULL,
     recipe BLOB,
     deps TEXT NOT NULL,
     outs TEXT NOT NULL,
     skipped INTEGER NOT NULL,
     PRIMARY KEY (state_id, cache_key)
   ) STRICT, WITHOUT ROWID`,
  'CREATE TABLE recipes (hash BLOB PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID',

  // Outlives its state, as history of its stage and entity. `claim` and `closing` are numbers of the requests that
  // began and ended it, so that later statements of a batch find what the first one won.
  `CREATE TABLE attempts (
     token INTEGER PRIMARY KEY AUTOINCREMENT,
     state_id INTEGER NOT NULL,
     workflow_id INTEGER NOT NULL,
     stage_id INTEGER NOT NULL,
     entity_id INTEGER NOT NULL,
     runner TEXT NOT NULL,
     run TEXT,
     claim INTEGER NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('make', 'clean')),
     started_at INTEGER NOT NULL,
     lease_until INTEGER NOT NULL,
     ended_at INTEGER,
     closing INTEGER,
     outcome TEXT CHECK (outcome IN ('made', 'verified', 'skipped', 'cleaned', 'failed', 'released', 'lost')),
     answer TEXT,
     cache_key BLOB,
     content_hash BLOB,
     reasons TEXT,
     exit_code INTEGER,
     error TEXT,
     log_tail TEXT,
     seconds REAL
   ) STRICT`,
  'CREATE INDEX attempts_state ON attempts (stage_id, entity_id, token)',

  `CREATE TABLE events (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     workflow_id INTEGER,
     stage_id INTEGER,
     entity_id INTEGER,
     event TEXT NOT NULL,
     body TEXT
   ) STRICT`,
  'CREATE INDEX events_workflow ON events (workflow_id, id)',

  `CREATE TABLE runs (
     id TEXT PRIMARY KEY,
     workflow_id INTEGER NOT NULL,
     cause TEXT NOT NULL,
     scope TEXT NOT NULL,
     started_at INTEGER NOT NULL,
     ended_at INTEGER,
     status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
     counts TEXT
   ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX runs_workflow ON runs (workflow_id, started_at)',

  `CREATE TABLE machines (
     role TEXT NOT NULL CHECK (role IN ('runner', 'watcher')),
     name TEXT NOT NULL,
     target TEXT NOT NULL,
     facts TEXT NOT NULL,
     first_seen_at INTEGER NOT NULL,
     last_seen_at INTEGER NOT NULL,
     PRIMARY KEY (role, name)
   ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE counts (
     stage_id INTEGER NOT NULL,
     word TEXT NOT NULL,
     n INTEGER NOT NULL,
     PRIMARY KEY (stage_id, word)
   ) STRICT, WITHOUT ROWID`,
  // How many entities a workflow has, kept like the counts.
  'CREATE TABLE entity_counts (workflow_id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT',
];

const COUNTING = [
  `CREATE TRIGGER entities_added AFTER INSERT ON entities BEGIN
     INSERT INTO entity_counts VALUES (NEW.workflow_id, 1)
       ON CONFLICT (workflow_id) DO UPDATE SET n = n + 1;
   END`,
  `CREATE TRIGGER entities_removed AFTER DELETE ON entities BEGIN
     UPDATE entity_counts SET n = n - 1 WHERE workflow_id = OLD.workflow_id;
   END`,
  // A stage has a row for every word from the start, so that moving from one to another only updates.
  `CREATE TRIGGER stages_added AFTER INSERT ON stages BEGIN
     INSERT INTO counts SELECT NEW.id, value, 0 FROM json_each(
       '["fresh","edited","stale","waiting","running","failed","exhausted","skipped","orphan"]') WHERE true
       ON CONFLICT DO NOTHING;
   END`,
  `CREATE TRIGGER states_added AFTER INSERT ON states BEGIN
     UPDATE counts SET n = n + 1 WHERE stage_id = NEW.stage_id AND word = NEW.word;
   END`,
  `CREATE TRIGGER states_reworded AFTER UPDATE OF status, blockers ON states WHEN OLD.word <> NEW.word BEGIN
     UPDATE counts SET n = n - 1 WHERE stage_id = NEW.stage_id AND word = OLD.word;
     UPDATE counts SET n = n + 1 WHERE stage_id = NEW.stage_id AND word = NEW.word;
   END`,
  `CREATE TRIGGER states_removed AFTER DELETE ON states BEGIN
     UPDATE counts SET n = n - 1 WHERE stage_id = OLD.stage_id AND word = OLD.word;
     UPDATE paths SET maker_id = NULL, made_hash = NULL WHERE maker_id = OLD.id;
     DELETE FROM inputs WHERE state_id = OLD.id;
     DELETE FROM reasons WHERE state_id = OLD.id;
     DELETE FROM failures WHERE state_id = OLD.id;
     DELETE FROM records WHERE state_id = OLD.id;
     UPDATE states SET rival_id = NULL WHERE rival_id = OLD.id;
   END`,
];

// Asked first, because what a trigger does costs even where there is nothing to do: each `IN (SELECT …)` makes a table
// of its own. Measured: with this and its like a completion takes a fifth less.
const IS_READ = 'EXISTS (SELECT 1 FROM inputs WHERE path_id = NEW.id)';

const TELLING = [
  `CREATE TRIGGER states_settled AFTER UPDATE OF status ON states WHEN OLD.settled <> NEW.settled BEGIN
     UPDATE paths SET told = CASE WHEN NEW.settled = 0 THEN 1 WHEN hash IS NULL THEN 2 ELSE 0 END
       WHERE maker_id = NEW.id;
   END`,
  // A settled state has nothing to explain and nothing to retry; an edited one keeps what outdates it.
  `CREATE TRIGGER states_content AFTER UPDATE OF status ON states
     WHEN NEW.status IN ('fresh', 'skipped') AND OLD.status NOT IN ('fresh', 'skipped')
       AND (EXISTS (SELECT 1 FROM reasons WHERE state_id = NEW.id)
         OR EXISTS (SELECT 1 FROM failures WHERE state_id = NEW.id)) BEGIN
     DELETE FROM reasons WHERE state_id = NEW.id;
     DELETE FROM failures WHERE state_id = NEW.id;
   END`,
  // Whatever would have it made again, two states that write one path stay apart (SEMANTICS 14).
  `CREATE TRIGGER states_collide AFTER UPDATE OF status, rival_id ON states
     WHEN NEW.rival_id IS NOT NULL AND NEW.status IN ('stale', 'failed') BEGIN
     UPDATE states SET status = 'exhausted' WHERE id = NEW.id;
   END`,
  `CREATE TRIGGER states_alone_again AFTER UPDATE OF rival_id ON states
     WHEN OLD.rival_id IS NOT NULL AND NEW.rival_id IS NULL BEGIN
     DELETE FROM failures WHERE state_id = NEW.id;
     UPDATE states SET status = 'stale' WHERE id = NEW.id AND status = 'exhausted';
   END`,
  `CREATE TRIGGER states_no_longer_stale AFTER UPDATE OF status ON states
     WHEN OLD.stale_since IS NOT NULL AND NEW.status <> 'stale' BEGIN
     UPDATE states SET stale_since = NULL WHERE id = NEW.id;
   END`,
  `CREATE TRIGGER paths_given_maker AFTER UPDATE OF maker_id ON paths WHEN OLD.maker_id IS NOT NEW.maker_id BEGIN
     UPDATE paths SET told = CASE
       WHEN (SELECT settled FROM states WHERE id = NEW.maker_id) = 0 THEN 1
       WHEN hash IS NULL THEN 2 ELSE 0 END WHERE id = NEW.id;
   END`,
  `CREATE TRIGGER paths_there_or_not AFTER UPDATE OF hash ON paths
     WHEN (OLD.hash IS NULL) <> (NEW.hash IS NULL) BEGIN
     UPDATE paths SET told = CASE
       WHEN (SELECT settled FROM states WHERE id = NEW.maker_id) = 0 THEN 1
       WHEN NEW.hash IS NULL THEN 2 ELSE 0 END WHERE id = NEW.id;
   END`,
  `CREATE TRIGGER paths_told AFTER UPDATE OF told ON paths
     WHEN OLD.told <> NEW.told AND ${IS_READ} BEGIN
     UPDATE states SET blockers = blockers + (NEW.told > 0) - (OLD.told > 0)
       WHERE (NEW.told > 0) <> (OLD.told > 0)
         AND id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id AND member = 0);
     UPDATE states SET blockers = blockers + (NEW.told = 1) - (OLD.told = 1)
       WHERE (NEW.told = 1) <> (OLD.told = 1)
         AND id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id AND member = 1);
   END`,
  `CREATE TRIGGER inputs_added AFTER INSERT ON inputs BEGIN
     UPDATE states SET blockers = blockers + 1 WHERE id = NEW.state_id
       AND (SELECT told = 1 OR (told = 2 AND NEW.member = 0) FROM paths WHERE id = NEW.path_id);
   END`,
  `CREATE TRIGGER inputs_removed AFTER DELETE ON inputs BEGIN
     UPDATE states SET blockers = blockers - 1 WHERE id = OLD.state_id
       AND (SELECT told = 1 OR (told = 2 AND OLD.member = 0) FROM paths WHERE id = OLD.path_id);
   END`,
];

const CHANGES = [
  `CREATE TRIGGER records_kept AFTER INSERT ON records
     WHEN (SELECT count(*) FROM records WHERE state_id = NEW.state_id) > 4 BEGIN
     DELETE FROM records WHERE state_id = NEW.state_id AND token <
       (SELECT token FROM records WHERE state_id = NEW.state_id ORDER BY token DESC LIMIT 1 OFFSET 3);
   END`,
  // Stale on arrival: what was known before the claim is answered by the result; what came later is not.
  `CREATE TRIGGER states_made AFTER UPDATE OF made_token ON states WHEN NEW.status = 'stale' BEGIN
     DELETE FROM reasons WHERE state_id = NEW.id AND sequence < NEW.token;
   END`,
  // The readers. An edited state stays as it is and remembers why it is outdated; a running one learns at its end.
  // If nothing brings the path back, the entities it stood for are orphans, unless another file stands for them.
  // One trigger, because the order in which several would fire is nobody's promise.
  `CREATE TRIGGER paths_changed AFTER UPDATE OF hash ON paths
     WHEN OLD.hash IS NOT NEW.hash AND ${IS_READ} BEGIN
     INSERT INTO reasons (state_id, kind, path_id, old, now, sequence)
       SELECT i.state_id, 'dep', NEW.id, OLD.hash, NEW.hash, NEW.sequence
       FROM inputs i JOIN states s ON s.id = i.state_id
       WHERE i.path_id = NEW.id AND s.source = 0 AND (s.cache_key IS NOT NULL OR s.status = 'running')
       ON CONFLICT (state_id, kind, path_id) DO UPDATE SET now = excluded.now, sequence = excluded.sequence;
     UPDATE states SET status = 'stale'
       WHERE id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id)
         AND source = 0 AND status IN ('fresh', 'skipped', 'failed', 'exhausted', 'orphan');
     UPDATE states SET status = 'fresh'
       WHERE NEW.hash IS NOT NULL AND id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id)
         AND source = 1 AND status = 'orphan';
     UPDATE states SET status = 'orphan'
       WHERE NEW.hash IS NULL AND status <> 'running'
         AND coalesce((SELECT m.status FROM states m WHERE m.id = NEW.maker_id), 'orphan') = 'orphan'
         AND id IN (SELECT state_id FROM inputs WHERE path_id = NEW.id AND driver = 1)
         AND NOT EXISTS (SELECT 1 FROM inputs i JOIN paths p ON p.id = i.path_id
           LEFT JOIN states m ON m.id = p.maker_id
           WHERE i.state_id = states.id AND i.driver = 1 AND (p.hash IS NOT NULL OR m.status <> 'orphan'));
   END`,
  // The maker (SEMANTICS 5): bytes that nobody made are somebody's edit, if we saw the output being made.
  `CREATE TRIGGER paths_altered AFTER UPDATE OF hash ON paths
     WHEN OLD.hash IS NOT NEW.hash AND NEW.maker_id IS NOT NULL AND NEW.made_hash IS NOT NULL BEGIN
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
];

const ADOPTION = [
  // An out on another machine is hashed there, by whoever looks first after it was made.
  `CREATE TRIGGER paths_adopted AFTER UPDATE OF hash ON paths
     WHEN NEW.hash IS NOT NULL AND NEW.made_hash IS NULL AND NEW.maker_id IS NOT NULL BEGIN
     UPDATE paths SET made_hash = NEW.hash
       WHERE id = NEW.id AND (SELECT settled FROM states WHERE id = NEW.maker_id) = 1;
   END`,
];

const ATTEMPTS = [
  `CREATE TRIGGER attempts_started AFTER INSERT ON attempts BEGIN
     UPDATE states SET status = 'running', token = NEW.token, lease_until = NEW.lease_until
       WHERE id = NEW.state_id;
     INSERT INTO events (at, workflow_id, stage_id, entity_id, event, body)
       VALUES (NEW.started_at, NEW.workflow_id, NEW.stage_id, NEW.entity_id, 'stage_started',
               json_object('token', NEW.token, 'runner', NEW.runner, 'run', NEW.run));
   END`,
  `CREATE TRIGGER attempts_ended AFTER UPDATE OF ended_at ON attempts WHEN OLD.ended_at IS NULL BEGIN
     INSERT INTO events (at, workflow_id, stage_id, entity_id, event, body)
       VALUES (NEW.ended_at, NEW.workflow_id, NEW.stage_id, NEW.entity_id,
               CASE NEW.outcome WHEN 'made' THEN 'stage_completed' WHEN 'verified' THEN 'stage_cached'
                 ELSE 'stage_' || NEW.outcome END,
               json_object('token', NEW.token, 'runner', NEW.runner, 'run', NEW.run, 'seconds', NEW.seconds,
                 'exit_code', NEW.exit_code, 'error', NEW.error, 'reasons', json(NEW.reasons)));
   END`,
  `CREATE TRIGGER attempts_rouse AFTER UPDATE OF ended_at ON attempts
     WHEN OLD.ended_at IS NULL AND NEW.outcome = 'made'
       AND EXISTS (SELECT 1 FROM stage_links WHERE upstream_id = NEW.stage_id AND rouses = 1) BEGIN
     INSERT OR IGNORE INTO reasons (state_id, kind, path_id, detail, sequence)
       SELECT s.id, 'after:' || NEW.stage_id, 0, (SELECT name FROM stages WHERE id = NEW.stage_id), NEW.token
       FROM stage_links l JOIN states s ON s.stage_id = l.stage_id
       WHERE l.upstream_id = NEW.stage_id AND l.rouses = 1 AND s.cache_key IS NOT NULL;
     UPDATE states SET status = 'stale'
       WHERE stage_id IN (SELECT stage_id FROM stage_links WHERE upstream_id = NEW.stage_id AND rouses = 1)
         AND status IN ('fresh', 'skipped', 'failed', 'exhausted');
   END`,
];

export const controlPlane: Migration = {
  id: 1,
  name: 'control plane',
  statements: [...TABLES, ...COUNTING, ...TELLING, ...CHANGES, ...ADOPTION, ...ATTEMPTS],
};
