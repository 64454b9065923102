// The tables of migration 1, as rows. For types only: programs import it with `import type`.
//
// What each table is for stands in the migration; a test holds the two together.

import { sql } from 'drizzle-orm';
import { blob, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { StoredWord } from '../status-words.ts';

const hash = (name: string) => blob(name).$type<Uint8Array>();

export const counters = sqliteTable('counters', {
  name: text('name').primaryKey(),
  value: integer('value').notNull(),
});

export const workflows = sqliteTable('workflows', {
  id: integer('id').primaryKey(),
  name: text('name').notNull().unique(),
  root: text('root').notNull(),
  target: text('target').notNull(),
  definition: hash('definition').notNull(),
  registered_at: integer('registered_at').notNull(),
  paused_at: integer('paused_at'),
  deleted_at: integer('deleted_at'),
});

export const definitions = sqliteTable(
  'definitions',
  {
    workflow_id: integer('workflow_id').notNull(),
    hash: hash('hash').notNull(),
    source: text('source').notNull(),
    normal_form: text('normal_form').notNull(),
    registered_at: integer('registered_at').notNull(),
    registered_by: text('registered_by').notNull(),
  },
  (of) => [primaryKey({ columns: [of.workflow_id, of.hash] })],
);

export const stages = sqliteTable('stages', {
  id: integer('id').primaryKey(),
  workflow_id: integer('workflow_id').notNull(),
  name: text('name').notNull(),
  position: integer('position').notNull(),
  target: text('target').notNull(),
  lenient: integer('lenient').notNull(),
  removed_at: integer('removed_at'),
});

export const stageLinks = sqliteTable(
  'stage_links',
  {
    stage_id: integer('stage_id').notNull(),
    upstream_id: integer('upstream_id').notNull(),
    kind: text('kind', { enum: ['after', 'far'] }).notNull(),
    rouses: integer('rouses').notNull(),
  },
  (of) => [primaryKey({ columns: [of.stage_id, of.kind, of.upstream_id] })],
);

export const entities = sqliteTable('entities', {
  id: integer('id').primaryKey(),
  workflow_id: integer('workflow_id').notNull(),
  name: text('name').notNull(),
  discovered_at: integer('discovered_at').notNull(),
});

export const paths = sqliteTable('paths', {
  id: integer('id').primaryKey(),
  target: text('target').notNull(),
  path: text('path').notNull(),
  hash: hash('hash'),
  size: integer('size'),
  files: integer('files'),
  made_hash: hash('made_hash'),
  maker_id: integer('maker_id'),
  sequence: integer('sequence').notNull().default(0),
  told: integer('told').$type<0 | 1 | 2>().notNull().default(2),
  discovered_at: integer('discovered_at'),
  seen_at: integer('seen_at'),
});

export const states = sqliteTable('states', {
  id: integer('id').primaryKey(),
  workflow_id: integer('workflow_id').notNull(),
  stage_id: integer('stage_id').notNull(),
  entity_id: integer('entity_id').notNull(),
  source: integer('source').$type<0 | 1>().notNull().default(0),
  status: text('status').$type<StoredWord>().notNull(),
  blockers: integer('blockers').notNull().default(0),
  settled: integer('settled')
    .$type<0 | 1>()
    .notNull()
    .generatedAlwaysAs(sql`status IN ('fresh', 'edited', 'skipped', 'orphan')`),
  word: text('word')
    .$type<StoredWord | 'waiting'>()
    .notNull()
    .generatedAlwaysAs(sql`CASE WHEN status = 'stale' AND blockers > 0 THEN 'waiting' ELSE status END`),
  stale_since: integer('stale_since'),
  cache_key: hash('cache_key'),
  content_hash: hash('content_hash'),
  made_token: integer('made_token'),
  produced_at: integer('produced_at'),
  produced_by: text('produced_by'),
  token: integer('token'),
  lease_until: integer('lease_until'),
  losses: integer('losses').notNull().default(0),
  rival_id: integer('rival_id'),
});

export const inputs = sqliteTable(
  'inputs',
  {
    path_id: integer('path_id').notNull(),
    state_id: integer('state_id').notNull(),
    member: integer('member').$type<0 | 1>().notNull(),
    driver: integer('driver').$type<0 | 1>().notNull(),
  },
  (of) => [primaryKey({ columns: [of.path_id, of.state_id] })],
);

export const reasons = sqliteTable(
  'reasons',
  {
    state_id: integer('state_id').notNull(),
    kind: text('kind').notNull(),
    path_id: integer('path_id').notNull(),
    old: hash('old'),
    now: hash('now'),
    detail: text('detail'),
    sequence: integer('sequence').notNull(),
  },
  (of) => [primaryKey({ columns: [of.state_id, of.kind, of.path_id] })],
);

export const failures = sqliteTable('failures', {
  state_id: integer('state_id').primaryKey(),
  failures: integer('failures').notNull(),
  cache_key: hash('cache_key'),
  exit_code: integer('exit_code'),
  error: text('error').notNull(),
  details: text('details'),
  first_failed_at: integer('first_failed_at').notNull(),
  last_failed_at: integer('last_failed_at').notNull(),
  retry_at: integer('retry_at'),
});

export const records = sqliteTable(
  'records',
  {
    state_id: integer('state_id').notNull(),
    cache_key: hash('cache_key').notNull(),
    token: integer('token').notNull(),
    recipe: hash('recipe'),
    deps: text('deps').notNull(),
    outs: text('outs').notNull(),
    skipped: integer('skipped').$type<0 | 1>().notNull(),
  },
  (of) => [primaryKey({ columns: [of.state_id, of.cache_key] })],
);

export const recipes = sqliteTable('recipes', {
  hash: hash('hash').primaryKey(),
  body: text('body').notNull(),
});

export const attempts = sqliteTable('attempts', {
  token: integer('token').primaryKey({ autoIncrement: true }),
  state_id: integer('state_id').notNull(),
  workflow_id: integer('workflow_id').notNull(),
  stage_id: integer('stage_id').notNull(),
  entity_id: integer('entity_id').notNull(),
  runner: text('runner').notNull(),
  run: text('run'),
  claim: integer('claim').notNull(),
  kind: text('kind', { enum: ['make', 'clean'] }).notNull(),
  started_at: integer('started_at').notNull(),
  lease_until: integer('lease_until').notNull(),
  ended_at: integer('ended_at'),
  closing: integer('closing'),
  outcome: text('outcome', {
    enum: ['made', 'verified', 'skipped', 'cleaned', 'failed', 'released', 'lost'],
  }),
  answer: text('answer'),
  cache_key: hash('cache_key'),
  content_hash: hash('content_hash'),
  reasons: text('reasons'),
  exit_code: integer('exit_code'),
  error: text('error'),
  log_tail: text('log_tail'),
  seconds: real('seconds'),
});

export const events = sqliteTable('events', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  at: integer('at').notNull(),
  workflow_id: integer('workflow_id'),
  stage_id: integer('stage_id'),
  entity_id: integer('entity_id'),
  event: text('event').notNull(),
  body: text('body'),
});

export const runs = sqliteTable('runs', {
  id: text('id').primaryKey(),
  workflow_id: integer('workflow_id').notNull(),
  cause: text('cause').notNull(),
  scope: text('scope').notNull(),
  started_at: integer('started_at').notNull(),
  ended_at: integer('ended_at'),
  status: text('status', { enum: ['running', 'completed', 'failed'] }).notNull(),
  counts: text('counts'),
});

export const machines = sqliteTable(
  'machines',
  {
    role: text('role', { enum: ['runner', 'watcher'] }).notNull(),
    name: text('name').notNull(),
    target: text('target').notNull(),
    facts: text('facts').notNull(),
    first_seen_at: integer('first_seen_at').notNull(),
    last_seen_at: integer('last_seen_at').notNull(),
  },
  (of) => [primaryKey({ columns: [of.role, of.name] })],
);

export const counts = sqliteTable(
  'counts',
  {
    stage_id: integer('stage_id').notNull(),
    word: text('word').$type<StoredWord | 'waiting'>().notNull(),
    n: integer('n').notNull(),
  },
  (of) => [primaryKey({ columns: [of.stage_id, of.word] })],
);

export const entityCounts = sqliteTable('entity_counts', {
  workflow_id: integer('workflow_id').primaryKey(),
  n: integer('n').notNull(),
});

export type AttemptRow = typeof attempts.$inferSelect;
export type CountRow = typeof counts.$inferSelect;
export type FailureRow = typeof failures.$inferSelect;
export type MachineRow = typeof machines.$inferSelect;
export type StateRow = typeof states.$inferSelect;
