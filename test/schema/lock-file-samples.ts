// Lock files for tests: one written by hand, and any at all.

import fc from 'fast-check';
import type { LockFile, Recipe, StageLock, StateLock } from '../../schema/lock-file/shape.ts';
import type { Blake3, Json } from '../../schema/words.ts';

export const digest = (n: number): Blake3 => `blake3:${n.toString(16).padStart(64, '0')}` as Blake3;

export const state = (n: number, parts: Partial<StateLock> = {}): StateLock => ({
  status: 'completed',
  started_at: '2026-02-16T12:00:00Z',
  completed_at: '2026-02-16T13:05:22Z',
  duration_seconds: 3_922,
  deps: [{ path: 'audio/', hash: digest(n), file_count: 6_452, total_bytes: 1_717_986_918_400 }],
  outs: [{ path: 'text/', hash: digest(n + 1), file_count: 6_452, remote: 'intel' }],
  deps_hash: digest(n + 2),
  cache_key: digest(n + 3),
  retries: 0,
  ...parts,
});

export const stage = (entities: Iterable<readonly [string, StateLock]>): StageLock => ({
  target: 'intel',
  params_hash: digest(20),
  params: new Map([
    ['whisper_model', { value: 'moonshine-tiny' }],
    ['token', { secret: digest(21) }],
  ]),
  cmd_hash: digest(22),
  code: [{ path: 'scripts/run.py', hash: digest(23) }],
  entities: new Map(entities),
});

export const sample = (stages: Iterable<readonly [string, StageLock]>): LockFile => ({
  schema: '1.0',
  playbook: 'corpus',
  generated_at: '2026-02-16T14:30:00Z',
  generator: 'sluice 0.1.0',
  blake3_version: '1.5',
  params_hash: digest(10),
  stages: new Map(stages),
});

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('__proto__', 'constructor', '2024', '10', '9', 'true', 'null', '~', '- a', 'a: b', 'a # b'),
  fc.constantFrom(
    '{{x}}',
    '{sample}',
    '"',
    "'",
    '\\',
    '\n',
    '\r\n',
    '\u2028',
    '\ufeff',
    '\u202e',
    '\u0085',
    '&a',
  ),
  fc.integer({ min: 900, max: 1_100 }).map((length) => 'k'.repeat(length)),
);
const hash = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((n) => {
  return `blake3:${n.toString(16).padStart(64, '0')}` as Blake3;
});
const time = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const count = fc.maxSafeNat();
// JSON has one zero, and so has a lock file.
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

const path = fc.record(
  { path: name, hash, file_count: count, total_bytes: count },
  { requiredKeys: ['path', 'hash'] },
);
const out = fc.record(
  { path: name, hash, file_count: count, total_bytes: count, remote: name },
  { requiredKeys: ['path', 'hash'] },
);
const param = fc.oneof(fc.record({ value: json }), fc.record({ secret: hash }));
const recipeParts = {
  target: name,
  params_hash: hash,
  params: fc.array(fc.tuple(name, param), { maxLength: 3 }).map((entries) => new Map(entries)),
  cmd_hash: hash,
  code: fc.array(fc.record({ path: name, hash }), { maxLength: 2 }),
};
const recipe: fc.Arbitrary<Recipe> = fc.record(recipeParts);
const anyState: fc.Arbitrary<StateLock> = fc.record(
  {
    status: fc.constantFrom('completed' as const, 'skipped' as const),
    started_at: time,
    completed_at: time,
    duration_seconds: fc.double({ min: 0, max: 1e9, noNaN: true }).map((n) => n + 0),
    deps: fc.array(path, { maxLength: 2 }),
    outs: fc.array(out, { maxLength: 2 }),
    deps_hash: hash,
    cache_key: hash,
    retries: fc.nat(),
    recipe,
  },
  { requiredKeys: ['status', 'deps', 'outs', 'deps_hash', 'cache_key'] },
);
const entities = fc.oneof(
  anyState.map((only) => new Map([['', only]])),
  fc.array(fc.tuple(name, anyState), { maxLength: 4 }).map((entries) => new Map(entries)),
);
const anyStage: fc.Arbitrary<StageLock> = fc.record({ ...recipeParts, entities });

export const anyLockFile: fc.Arbitrary<LockFile> = fc.record(
  {
    schema: fc.constant('1.0'),
    playbook: name,
    generated_at: time,
    generator: name,
    blake3_version: name,
    params_hash: hash,
    stages: fc.array(fc.tuple(name, anyStage), { maxLength: 3 }).map((entries) => new Map(entries)),
  },
  { requiredKeys: ['schema', 'playbook', 'generator', 'blake3_version', 'params_hash', 'stages'] },
);
